// SPDX-License-Identifier: Apache-2.0

import Geometry

extension TrackerProfile {
  /// A pair of MIDI controllers that together carry a number of 14 bits.
  public struct ControllerPlace: Sendable, Equatable {
    /// The MIDI channel, 1 to 16.
    public var channel: UInt8
    public var most: UInt8
    public var least: UInt8
  }

  /// The pairs of MIDI controllers for the signals, each listed once, ordered by channel and then
  /// by controller numbers.
  public var controllerPairs: [ControllerPlace] {
    var pairs: [ControllerPlace] = []
    for number in frames.flatMap(\.signals.values) {
      guard case .controllers(let most, let least, let channel) = number.place else { continue }
      let pair = ControllerPlace(channel: channel, most: most, least: least)
      if !pairs.contains(pair) { pairs.append(pair) }
    }
    return pairs.sorted { ($0.channel, $0.most, $0.least) < ($1.channel, $1.most, $1.least) }
  }

  /// The longest frame that a profile may describe, in bytes.
  static let longestFrame = 4096

  /// The reason why the profile is invalid; nil if it is valid.
  public var problem: String? {
    let has = Set(signals.keys)
    guard hasOrientation || has.isSuperset(of: Signal.motion) else {
      return "it has neither an orientation nor the rates and forces of all three axes"
    }
    if let problem = framing.problem { return problem }
    for (signal, number) in frames.flatMap(\.signals) {
      if let problem = problem(signal, number) { return problem }
    }
    guard tickSeconds > 1e-10, tickSeconds < 1, (8...64).contains(clockBits) else {
      return "the clock's tick must be between 1e-10 and 1 s, and the clock's width 8 to 64 bits"
    }
    guard mount.map({ abs($0.squaredNorm - 1) < 0.01 }) ?? true else {
      return "the mount must be a unit quaternion w, x, y, z"
    }
    guard (0.01...3600).contains(keepAliveSeconds), (0...10_000).contains(start.delayMilliseconds)
    else {
      return "the keep-alive period must be 0.01 to 3600 s, and the delay of 'start' 0 to 10000 ms"
    }
    return linkProblem
  }

  private func problem(_ signal: Signal, _ number: Number) -> String? {
    guard number.scale.isFinite, number.offset.isFinite, number.scale != 0 else {
      return "the scale and offset of \(signal.rawValue) must be finite, and the scale not 0"
    }
    var longest = Self.longestFrame
    if case .binary(let framing) = framing { longest = min(longest, framing.length) }
    switch number.place {
    case .byte(let at, let type):
      guard type.size <= longest else {
        return "\(signal.rawValue) is longer than a frame, which has \(longest) bytes"
      }
      guard at >= 0, at <= longest - type.size else {
        return "the 'byte' of \(signal.rawValue) must be from 0 to \(longest - type.size)"
      }
      if case .text = framing {
        return "\(signal.rawValue) needs a 'name' that 'text' contains in braces"
      }
    case .usage:
      guard link == .hid else {
        return "only a HID tracker can have a 'usage' for \(signal.rawValue)"
      }
    case .name(let name):
      let holders = frames.filter { $0.signals[signal] == number }
      guard holders.allSatisfy({ $0.pattern?.names.contains(name) ?? false }) else {
        return "'text' does not contain '{\(name)}' for \(signal.rawValue)"
      }
    case .controllers(let most, let least, let channel):
      guard case .controllers = framing, most < 120, least < 120, (1...16).contains(channel) else {
        return "the controllers of \(signal.rawValue) must have numbers below 120 and a channel "
          + "from 1 to 16, and 'frame' must have 'controllers'"
      }
    }
    return nil
  }

  private var hasCommands: Bool {
    !(start.packets + stop.packets + keepAlive.packets).isEmpty
  }

  private var midiProblem: String? {
    switch framing {
    case .message, .text:
      "a MIDI link needs a 'frame' with 'sync' and 'length', or with 'controllers'"
    case .binary(let framing) where framing.sync.first != 0xF0:
      "the 'sync' of a MIDI link must begin with F0"
    default: nil
    }
  }

  private var linkProblem: String? {
    switch (link, framing) {
    case (.midi, _), (_, .message), (_, .binary), (_, .text): break
    case (_, .controllers): return "only a MIDI tracker can have 'controllers'"
    }
    switch link {
    case .hid where framing != .message:
      return "a HID tracker must not have a 'frame', because each report is one frame"
    case .serial where framing == .message: return "a serial link needs a 'frame'"
    case .tcp where framing == .message: return "a TCP link needs a 'frame'"
    case .midi: return midiProblem
    case .serial(let port) where !SerialPort.bauds.contains(port.baud):
      return "the baud rate must be one of "
        + SerialPort.bauds.map(String.init).joined(separator: ", ")
    case .tcp(let place) where !(1...65535).contains(place.port),
      .udp(let place) where !(1...65535).contains(place.port):
      return "the port must be from 1 to 65535"
    case .ble(let service) where service.name == nil && service.service == nil:
      return "a Bluetooth LE tracker needs a 'name' or a 'service'"
    case .ble(let service) where service.write == nil && hasCommands:
      return "commands need the characteristic 'write'"
    case .hid where start.delayMilliseconds > 0, .ble where start.delayMilliseconds > 0:
      return "a HID or Bluetooth LE tracker cannot have a 'delay'"
    case .udp where hasCommands: return "a UDP tracker cannot receive commands"
    default: return nil
    }
  }
}

extension TrackerProfile.Framing {
  var problem: String? {
    switch self {
    case .message, .text: return nil
    case .controllers(let gap):
      return (0.1...100).contains(gap) ? nil : "the gap must be 0.1 to 100 ms"
    case .binary(let framing): return framing.problem
    }
  }
}

extension TrackerProfile.BinaryFraming {
  var problem: String? {
    let longest = TrackerProfile.longestFrame
    guard (1...16).contains(sync.count), tail.count <= 16 else {
      return "'sync' must have 1 to 16 bytes, and 'tail' at most 16 bytes"
    }
    guard length > sync.count, length <= longest else {
      return "the length of a frame must be from \(sync.count + 1) to \(longest) bytes"
    }
    guard
      checksum == .none
        || (covered.lowerBound >= 0 && covered.upperBound <= length
          && checksumOffset >= covered.upperBound && checksumOffset <= length - checksum.size)
    else { return "the checksum must be in the frame, after the bytes that it covers" }
    return nil
  }
}
