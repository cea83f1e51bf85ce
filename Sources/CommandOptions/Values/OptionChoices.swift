// SPDX-License-Identifier: Apache-2.0

/// `--hrtf-eq`: the equalisation of an HRTF set.
public enum HRTFEqualization: String, Sendable, CaseIterable {
  /// Keeps the set's diffuse-field response.
  case none
  /// Flattens the set's diffuse-field response.
  case diffuse
}

/// `--decoder`: the design of the binaural decoder.
public enum DecoderChoice: String, Sendable, CaseIterable {
  /// Magnitude least squares.
  case magls
  /// Least squares.
  case ls
  /// Magnitude least squares that also preserves the ears' covariance in a diffuse field.
  case maglsCov = "magls-cov"
  /// Renders each channel of mono, stereo and loudspeaker layouts with the interpolated responses
  /// of its own direction.
  case direct
  /// Renders first-order soundfields as plane waves in each frequency band, plus a residual.
  case parametric
}

/// `--spatialize`: the sources that are rendered spatially.
public enum SpatializeChoice: String, Sendable, CaseIterable {
  case monoStereo = "mono-stereo"
  case multichannel
  case all
  case off
}

/// `--drc`: the use of the level metadata in AC-3, E-AC-3 and AAC.
public enum DynamicRangeChoice: String, Sendable, CaseIterable {
  /// Dialogue at -31 LUFS, with the dynamic range reduced for living rooms.
  case line
  /// Dialogue at -20 LUFS, with the dynamic range strongly reduced.
  case rf
  /// Dialogue at -31 LUFS, with the full dynamic range.
  case off
}

/// `--output`: the sound server to play through.
public enum SoundServerOption: String, Sendable, CaseIterable {
  /// PipeWire if it is the user's sound server, otherwise PulseAudio.
  case auto
  /// PulseAudio, or PipeWire through its PulseAudio protocol.
  case pulse
  case pipewire
}

/// `--route`: the type of the output.
public enum RouteOption: String, Sendable, CaseIterable {
  /// The type from `config.json`, or else the type that the server reports.
  case auto
  case headphones
  case speakers
}

/// `--to`: the format that `render` writes.
public enum RenderTarget: String, Sendable, CaseIterable {
  case binaural
  /// The fold-down to stereo.
  case stereo
  case surround51 = "5.1"
  case surround71 = "7.1"
  case surround714 = "7.1.4"
  /// A first-order soundfield.
  case foa
  /// First-order ambience, then speech in one channel.
  case ambienceAndSpeech = "foa+speech"
}

/// `--upmix`: whether stereo is converted to 5.1.
public enum UpmixChoice: String, Sendable, CaseIterable {
  case on
  case off
  /// Conversion with an analysis window of half the usual length.
  case lowLatency = "low-latency"
}

/// `--prefer`: the renditions of a presentation that are preferred.
public enum TreatmentChoice: String, Sendable, CaseIterable {
  /// Multichannel if the connection is fast enough.
  case multichannel
  /// Stereo even if the connection is fast enough for multichannel.
  case stereo
}

/// `--mode`: whether the stage stands still, is fixed to the head, or is replaced by plain stereo.
public enum StageModeChoice: String, Sendable, CaseIterable {
  /// The stage stands still in the room.
  case tracked
  /// The stage is fixed to the head.
  case fixed
  /// Plain stereo.
  case off
}

/// `--screen`: what `play` and `demo` show on a terminal.
public enum ScreenChoice: String, Sendable, CaseIterable {
  /// A status line.
  case line
  /// A view that fills the terminal.
  case full
}

/// `--rewrite`: whether queued sound is rendered again when the head moves.
public enum RewriteChoice: String, Sendable, CaseIterable {
  /// Rewrites unless the output reads too far ahead.
  case auto
  case on
  case off
}

/// `completion`: the shell whose completion script is printed.
public enum Shell: String, Sendable, CaseIterable {
  case bash
  case zsh
  case fish

  /// The script that `stillstage completion` prints.
  public var completion: String {
    switch self {
    case .bash: BashCompletion.text
    case .zsh: ZshCompletion.text
    case .fish: FishCompletion.text
    }
  }
}

/// `bench latency --server`: the sound server to play to.
public enum LatencyServerChoice: String, Sendable, CaseIterable {
  case pulseaudio
  case pipewire
  /// The user's own server.
  case current
}
