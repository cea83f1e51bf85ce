// SPDX-License-Identifier: Apache-2.0

/// Why the sound server could not be used.
public enum SoundServerError: Error, Equatable {
  /// A PulseAudio server cannot be reached, or it rejected or ended the connection.
  case noServer(address: String, reason: String)
  /// PipeWire cannot be reached or ended the connection, or libpipewire is missing or too old.
  case noPipeWire(reason: String)
  /// The server did not answer within the timeout.
  case serverSilent(address: String, milliseconds: Int)
  /// No sink has the requested name.
  case unknownSink(name: String, available: [String])
  /// The server has no sinks.
  case noSink(address: String)
  /// No input has the requested name.
  case unknownSource(name: String, available: [String])
  /// The sample rate is outside the server's range of 1 Hz to 384 kHz.
  case unsupportedSampleRate(Int)
  /// A stream could not be opened, or a module could not be loaded, for another reason.
  case streamRefused(reason: String)
  /// `stop` was called before or during `start`.
  case stopped
  /// The server cannot be used for another reason, such as a lack of system resources. `reason`
  /// also says what to do.
  case systemFailure(reason: String)

  /// One line that says what failed, why, and what to do.
  public var message: String {
    switch self {
    case .noServer(let address, let reason):
      "no connection to a sound server at \(address): \(reason); start pulseaudio or "
        + "pipewire-pulse, or set PULSE_SERVER to the address of a running server"
    case .noPipeWire(let reason):
      "cannot use PipeWire: \(reason); install, update or start pipewire, or use PulseAudio"
    case .serverSilent(let address, let milliseconds):
      "the sound server at \(address) did not answer within \(milliseconds) ms and may be "
        + "frozen; restart it, or name another server with PULSE_SERVER or, for PipeWire, with "
        + "PIPEWIRE_REMOTE"
    case .unknownSink(let name, let available):
      available.isEmpty
        ? "no sink is named '\(name)': the server has no sinks; connect a device"
        : "no sink is named '\(name)'; choose from: \(available.joined(separator: ", "))"
    case .noSink(let address):
      "the sound server at \(address) has no sinks; connect a device"
    case .unknownSource(let name, let available):
      available.isEmpty
        ? "no input is named '\(name)': the server has no inputs; connect a microphone"
        : "no input is named '\(name)'; choose from: \(available.joined(separator: ", "))"
    case .unsupportedSampleRate(let rate):
      "the sound server does not support \(rate) Hz; choose a rate from 1 to 384000 Hz"
    case .streamRefused(let reason):
      "the sound server refused the request: \(reason); check the server's log, or "
        + "choose another device"
    case .stopped:
      "the stream was stopped and cannot be started again; create a new one"
    case .systemFailure(let reason):
      "cannot use the sound server: \(reason)"
    }
  }
}

extension SoundServerError {
  /// Throws `unsupportedSampleRate` if the rate is not from 1 to 384000 Hz.
  package static func check(sampleRate: Int) throws(SoundServerError) {
    guard (1...384_000).contains(sampleRate) else { throw .unsupportedSampleRate(sampleRate) }
  }
}

extension SoundServerError: CustomStringConvertible {
  public var description: String { message }
}
