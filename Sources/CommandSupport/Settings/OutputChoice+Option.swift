// SPDX-License-Identifier: Apache-2.0

public import CommandOptions
public import Playback

extension OutputChoice {
  /// Returns the choice that `--output` names.
  public init(_ option: SoundServerOption) {
    switch option {
    case .auto: self = .automatic
    case .pulse: self = .pulseAudio
    case .pipewire: self = .pipeWire
    }
  }
}
