// SPDX-License-Identifier: Apache-2.0

/// A MIDI port from which a program can read.
struct MIDIPort: Sendable, Equatable {
  /// How the port is opened.
  enum Place: Sendable, Equatable {
    case sequencer(client: Int, port: Int)
    /// A raw MIDI device of the kernel.
    case raw(path: String)
  }

  /// The name of the device or program that has the port.
  var client: String
  /// The name of the port.
  var name: String
  var place: Place
  /// The number of the sound card; nil if the port belongs to no card.
  var card: Int?
  /// The USB device; nil if the port belongs to none.
  var usb: USBIdentity?

  /// Returns whether `client` or `name` begins with `prefix`; false if `prefix` is empty.
  func begins(with prefix: String) -> Bool {
    !prefix.isEmpty && (client.hasPrefix(prefix) || name.hasPrefix(prefix))
  }

  /// The path that identifies the port while it exists.
  var path: String {
    switch place {
    case .sequencer(let client, let port): "midi:\(client):\(port)"
    case .raw(let path): path
    }
  }
}

/// What a USB device states about itself.
struct USBIdentity: Sendable, Equatable {
  var vendorID: UInt16
  var productID: UInt16
  /// The serial number; empty if the device has none.
  var serial: String
}

/// The computer's MIDI ports.
///
/// ## Threading
/// A value may be used from any thread.
protocol MIDIPorts: Sendable {
  /// Returns the ports from which a program can read.
  func ports() -> [MIDIPort]
  /// Returns why a port cannot be opened, on one line; nil if no reason is known.
  func obstacle(_ port: MIDIPort) -> String?
  /// Opens a port for reading and, if it takes messages, for writing.
  func open(_ port: MIDIPort) throws(MIDIError) -> any MIDILink
}

/// An open MIDI port. It belongs to one thread at a time, and closes when it is released.
protocol MIDILink: AnyObject {
  /// Waits for bytes, and returns those that are available. The call may return `nothing` before
  /// the time has passed.
  func read(timeoutNanoseconds: Int64) -> MIDIInput
  /// Sends a complete message.
  func write(_ message: [UInt8]) throws(MIDIError)
}

/// The result of waiting for bytes.
enum MIDIInput: Sendable, Equatable {
  case bytes([UInt8])
  case nothing
  case gone
}

/// Why a MIDI port cannot be used.
struct MIDIError: Error, Sendable, Equatable {
  /// The reason on one line, with advice if there is any.
  var reason: String
}
