// SPDX-License-Identifier: Apache-2.0

public import CommandOptions
public import Playback

extension OutputChoice {
  /// Creates the choice from the value of `--output`.
  public init(_ option: SoundServerOption) {
    switch option {
    case .auto: self = .automatic
    case .pulse: self = .pulseAudio
    case .pipewire: self = .pipeWire
    }
  }
}
