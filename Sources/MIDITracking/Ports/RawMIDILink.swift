// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

/// A raw MIDI device of the kernel, such as `/dev/snd/midiC1D0`: a stream of MIDI bytes.
///
/// Only one program at a time can have it open.
final class RawMIDILink: MIDILink {
  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 4096)

  /// The longest wait until the device takes more bytes, in milliseconds.
  private static let writeMilliseconds: Int32 = 200

  init(_ path: String) throws(MIDIError) {
    var descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    if descriptor < 0, errno == ENXIO || errno == EROFS {
      // The device only sends.
      descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    }
    guard descriptor >= 0 else { throw MIDIError(reason: Self.reason(errno, path)) }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  static func noPermission(_ path: String) -> String {
    "no permission to open \(path); log in at this computer, or run "
      + "'sudo usermod -aG audio $USER' and log in again"
  }

  static func reason(_ error: Int32, _ path: String) -> String {
    switch error {
    case EBUSY, EAGAIN:
      "another program, such as an audio workstation, uses \(path); close that program"
    case EACCES, EPERM: noPermission(path)
    default: "\(path): \(SystemError(number: error).description)"
    }
  }

  func read(timeoutNanoseconds: Int64) -> MIDIInput {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard wait(&request, 1, timeoutNanoseconds) else { return .nothing }
    let length = Glibc.read(descriptor, &buffer, buffer.count)
    if length < 0, errno == EINTR || errno == EAGAIN {
      return request.revents & Int16(POLLIN) == 0 ? .gone : .nothing
    }
    return length > 0 ? .bytes(Array(buffer.prefix(length))) : .gone
  }

  func write(_ message: [UInt8]) throws(MIDIError) {
    var rest = message[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&request, 1, Self.writeMilliseconds) > 0 else {
          throw MIDIError(reason: "it does not accept messages; reconnect the tracker")
        }
      } else if errno != EINTR {
        throw MIDIError(reason: "it does not accept messages: \(SystemError.latest.description)")
      }
    }
  }
}

/// Waits for a requested event, for at most `nanoseconds` rounded up to milliseconds. Returns
/// whether an event has occurred.
func wait(
  _ requests: UnsafeMutablePointer<pollfd>, _ count: Int, _ nanoseconds: Int64
) -> Bool {
  poll(requests, nfds_t(count), Int32((max(0, nanoseconds) + 999_999) / 1_000_000)) > 0
}
