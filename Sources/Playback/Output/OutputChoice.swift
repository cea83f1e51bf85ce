// SPDX-License-Identifier: Apache-2.0

/// The kind of sound server to play through.
public enum OutputChoice: String, Sendable, Equatable, CaseIterable {
  /// PipeWire if it answers and has sinks, unless an address is given or `PULSE_SERVER` names
  /// another server; otherwise PulseAudio.
  case automatic
  /// PulseAudio, or PipeWire through its PulseAudio protocol.
  case pulseAudio
  /// PipeWire, without a queue in the server.
  case pipeWire
}
