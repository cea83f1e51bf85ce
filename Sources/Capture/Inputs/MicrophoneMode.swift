// SPDX-License-Identifier: Apache-2.0

public import SoundServer

/// How the sound of an input is processed before it is recorded.
public enum MicrophoneMode: String, Sendable, CaseIterable {
  /// The channels are converted from the format of the microphone, but not processed.
  case standard
  /// The sound server cancels echoes and suppresses noise. Monitors and inputs with more than two
  /// channels do not support this mode; with more channels, the processing would destroy the
  /// directions of the sound.
  case voice
  /// All channels are recorded, without conversion from a microphone's format.
  case wide
}

extension Source {
  /// The modes that this input supports.
  public var microphoneModes: [MicrophoneMode] {
    var modes = [MicrophoneMode.standard]
    if channelCount <= 2, !isMonitor { modes.append(.voice) }
    if channelCount > 1 { modes.append(.wide) }
    return modes
  }
}
