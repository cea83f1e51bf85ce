// SPDX-License-Identifier: Apache-2.0

/// `--hrtf-eq`: what is done to the colour of an HRTF set.
public enum HRTFEqualization: String, Sendable, CaseIterable {
  /// The set's own diffuse-field colour is kept.
  case none
  /// The set's diffuse-field response is made flat.
  case diffuse
}

/// `--decoder`: how the binaural decoder is designed.
public enum DecoderChoice: String, Sendable, CaseIterable {
  /// Magnitude least squares.
  case magls
  /// Least squares.
  case ls
  /// Magnitude least squares with the ears' covariance in the diffuse field kept.
  case maglsCov = "magls-cov"
  /// Each loudspeaker through interpolated responses of its own direction.
  case direct
  /// First-order soundfields as plane waves and what remains.
  case parametric
}

/// `--spatialize`: which sources are made spatial; the rest plays as plain stereo.
public enum SpatializeChoice: String, Sendable, CaseIterable {
  case monoStereo = "mono-stereo"
  case multichannel
  case all
  case off
}

/// `--drc`: what becomes of the words on level that broadcasters send with AC-3 and E-AC-3.
public enum DynamicRangeChoice: String, Sendable, CaseIterable {
  /// Dialogue at -31 LUFS, the dynamic range brought in for living rooms.
  case line
  /// Dialogue at -20 LUFS, the dynamic range strongly brought in.
  case rf
  /// Dialogue at -31 LUFS, the full dynamic range.
  case off
}

/// `--route`: what the output is taken for.
public enum RouteOption: String, Sendable, CaseIterable {
  /// What the sound server tells of it.
  case auto
  case headphones
  case speakers
}

/// `--to`: what `render` writes.
public enum RenderTarget: String, Sendable, CaseIterable {
  case binaural
  /// The fold-down.
  case stereo
  case surround51 = "5.1"
  case surround71 = "7.1"
  case surround714 = "7.1.4"
  /// A first-order soundfield.
  case foa
}

/// `--upmix`: whether stereo goes through 5.1.
public enum UpmixChoice: String, Sendable, CaseIterable {
  case on
  case off
  /// Half as late, and split more coarsely.
  case lowLatency = "low-latency"
}

/// `--prefer`: which renditions of a presentation are taken where there is a choice.
public enum TreatmentChoice: String, Sendable, CaseIterable {
  /// Multichannel whenever the line carries it.
  case multichannel
  /// Stereo even if the line carries more.
  case stereo
}

/// `--mode`: what the stage follows.
public enum StageModeChoice: String, Sendable, CaseIterable {
  /// The stage stands still in the room.
  case tracked
  /// The stage is fixed to the head.
  case fixed
  /// Plain stereo.
  case off
}

/// `--rewrite`: whether what is queued is rendered again when the head moves.
public enum RewriteChoice: String, Sendable, CaseIterable {
  /// Where the sound server lets it.
  case auto
  case on
  case off
}

/// `completion`: the shells that completion can be written for.
public enum Shell: String, Sendable, CaseIterable {
  case bash
  case zsh
  case fish

  /// The completion script, made from the option table.
  public var completion: String {
    switch self {
    case .bash: BashCompletion.text
    case .zsh: ZshCompletion.text
    case .fish: FishCompletion.text
    }
  }
}

/// `bench latency --server`: what is played to.
public enum LatencyServerChoice: String, Sendable, CaseIterable {
  case pulseaudio
  case pipewire
  /// The user's own.
  case current
}
