// SPDX-License-Identifier: Apache-2.0

import CALSA
import Glibc
import System

/// A port of the ALSA sequencer, which several programs can use at the same time.
///
/// The sequencer announces when the port disappears.
final class SequencerLink: MIDILink {
  private let sequencer: OpaquePointer
  private let port: UInt8
  private let peer: alsa_address
  private var requests = [pollfd](repeating: pollfd(), count: 4)
  private var requestCount = 0

  /// The maximum number of events per call of `read`.
  private static let mostEvents = 1000

  init(client: Int, port: Int) throws(MIDIError) {
    var opened: OpaquePointer?
    let status = alsa_open(&opened)
    guard status >= 0, let opened else { throw MIDIError(reason: Self.reason(status)) }
    do throws(MIDIError) {
      peer = alsa_address(
        client: UInt8(truncatingIfNeeded: client), port: UInt8(truncatingIfNeeded: port))
      self.port = try Self.subscribe(opened, client, port)
    } catch {
      _ = alsa_close(opened)
      throw error
    }
    sequencer = opened
    requestCount = Int(max(0, alsa_poll_descriptors(opened, &requests, 4, Int16(POLLIN))))
  }

  deinit { _ = alsa_close(sequencer) }

  /// Creates a port and connects it to the tracker's port and to the sequencer's announcements.
  /// Returns the number of the created port.
  private static func subscribe(
    _ sequencer: OpaquePointer, _ client: Int, _ port: Int
  ) throws(MIDIError) -> UInt8 {
    _ = alsa_set_client_name(sequencer, "Stillstage")
    let access =
      ALSA_PORT_WRITE | ALSA_PORT_SUBSCRIBE_WRITE | ALSA_PORT_READ | ALSA_PORT_SUBSCRIBE_READ
    let own = alsa_create_simple_port(
      sequencer, "head tracking", UInt32(access),
      UInt32(ALSA_TYPE_MIDI_GENERIC | ALSA_TYPE_APPLICATION))
    guard own >= 0 else { throw MIDIError(reason: reason(own)) }
    // Without the announcements, silence would be the only sign that the tracker's port is gone.
    _ = alsa_connect_from(sequencer, own, 0, Int32(ALSA_ANNOUNCE_PORT))
    let status = alsa_connect_from(sequencer, own, Int32(client), Int32(port))
    guard status >= 0 else { throw MIDIError(reason: reason(status)) }
    // Ignore an error, because a port that only sends cannot be connected in this direction.
    _ = alsa_connect_to(sequencer, own, Int32(client), Int32(port))
    return UInt8(truncatingIfNeeded: own)
  }

  private static func reason(_ status: Int32) -> String {
    switch -status {
    case ENOSYS: "the library libasound2 is missing or too old; install or update it"
    case EACCES, EPERM: RawMIDILink.noPermission("/dev/snd/seq")
    case EBUSY: "another program has reserved the MIDI port; close that program"
    case ENOENT: "the MIDI sequencer is not available; run 'sudo modprobe snd-seq'"
    case ENODEV, ENXIO, EINVAL: "its MIDI port is gone; reconnect the tracker"
    default: "the MIDI sequencer failed: \(SystemError(number: -status).description)"
    }
  }

  func read(timeoutNanoseconds: Int64) -> MIDIInput {
    guard wait(&requests, requestCount, timeoutNanoseconds) else { return .nothing }
    var bytes: [UInt8] = []
    for _ in 0..<Self.mostEvents {
      var event: UnsafeMutablePointer<alsa_event>?
      let status = alsa_event_input(sequencer, &event)
      // ENOSPC: events were lost, because they were not read in time.
      if status == -ENOSPC { continue }
      if status == -EAGAIN || status == -EINTR { break }
      guard status >= 0, let event else { return .gone }
      if isExit(event.pointee) { return .gone }
      bytes += Self.bytes(event.pointee)
    }
    return bytes.isEmpty ? .nothing : .bytes(bytes)
  }

  private func isExit(_ event: alsa_event) -> Bool {
    let address = event.data.address
    switch Int(event.type) {
    case ALSA_EVENT_CLIENT_EXIT: return address.client == peer.client
    case ALSA_EVENT_PORT_EXIT:
      return address.client == peer.client && address.port == peer.port
    default: return false
    }
  }

  /// Returns the MIDI bytes of an event; empty for a kind that trackers do not use.
  private static func bytes(_ event: alsa_event) -> [UInt8] {
    let control = event.data.control
    let status = 0xB0 | control.channel & 0x0F
    let controller = UInt8(truncatingIfNeeded: control.parameter & 0x7F)
    let value = UInt32(bitPattern: control.value)
    switch Int(event.type) {
    case ALSA_EVENT_CONTROLLER:
      return [status, controller, UInt8(truncatingIfNeeded: value & 0x7F)]
    case ALSA_EVENT_CONTROL14 where controller < 32:
      return [
        status, controller + 32, UInt8(truncatingIfNeeded: value & 0x7F), status, controller,
        UInt8(truncatingIfNeeded: value >> 7 & 0x7F),
      ]
    case ALSA_EVENT_SYSEX:
      // A long message arrives in several events.
      guard let start = event.data.variable.bytes else { return [] }
      return Array(
        UnsafeRawBufferPointer(start: start, count: Int(event.data.variable.length & 0x3FFF_FFFF)))
    default: return []
    }
  }

  func write(_ message: [UInt8]) throws(MIDIError) {
    var message = message
    let status = message.withUnsafeMutableBytes { bytes in
      var event = alsa_event()
      event.type = UInt8(ALSA_EVENT_SYSEX)
      event.flags = UInt8(ALSA_VARIABLE_LENGTH)
      event.queue = UInt8(ALSA_QUEUE_DIRECT)
      event.source.port = port
      event.destination = peer
      event.data.variable.length = UInt32(bytes.count)
      event.data.variable.bytes = bytes.baseAddress
      return alsa_event_output_direct(sequencer, &event)
    }
    guard status >= 0 else { throw MIDIError(reason: Self.reason(status)) }
  }
}
