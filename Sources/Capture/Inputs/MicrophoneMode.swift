// SPDX-License-Identifier: Apache-2.0

public import SoundServer

/// How the sound of an input is treated before it is recorded.
public enum MicrophoneMode: String, Sendable, CaseIterable {
  /// As the input delivers it.
  case standard
  /// With the sound server's echo cancellation and noise suppression, which would destroy the
  /// directions in sound with more than two channels.
  case voice
  /// All channels, without any processing.
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
