// SPDX-License-Identifier: Apache-2.0

/// The kind of sound server to play through.
public enum OutputChoice: String, Sendable, Equatable, CaseIterable {
  /// PipeWire if a PipeWire server answers and has sinks, no address is given, and `PULSE_SERVER`
  /// does not name another server. Otherwise, PulseAudio.
  case automatic
  /// PulseAudio, or PipeWire through its PulseAudio protocol.
  case pulseAudio
  /// PipeWire, without a queue in the server.
  case pipeWire
}
