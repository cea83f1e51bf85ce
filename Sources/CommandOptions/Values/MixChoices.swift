// SPDX-License-Identifier: Apache-2.0

/// `--mix`: the style of the mix of speech and ambience.
public enum MixChoice: String, Sendable, CaseIterable {
  case standard
  case cinematic
  case studio
  case inFrame = "in-frame"
  case cinematicForeground = "cinematic-foreground"
  case cinematicBackground = "cinematic-background"
  case studioForeground = "studio-foreground"
  case studioBackground = "studio-background"
  case inFrameForeground = "in-frame-foreground"
  case inFrameBackground = "in-frame-background"
}

/// `--separator`: how speech and ambience are separated.
public enum SeparatorChoice: String, Sendable, CaseIterable {
  case spatial
  /// Also uses `libdeepfilter.so`, which the user supplies.
  case neural
}

/// `mix process --to`: the format of the output.
public enum ProcessTarget: String, Sendable, CaseIterable {
  case surround51 = "5.1"
  case surround71 = "7.1"
  case surround714 = "7.1.4"
  case stereo
  /// First-order ambience, then speech in a fifth channel.
  case ambienceAndSpeech = "foa+speech"
  case binaural
}
