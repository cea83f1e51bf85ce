// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

/// How decoders apply the level metadata of AC-3, E-AC-3 and AAC.
///
/// Each mode brings dialogue to a fixed level if the stream states the level at which the dialogue
/// was coded. `dynrng` and `compr` are the gains in AC-3 and E-AC-3. AAC transmits one gain, which
/// `line` and `rf` both apply.
public enum DynamicRange: String, Sendable, CaseIterable {
  /// Dialogue at -31 LUFS. `dynrng` brings louder and softer sound closer to that level.
  case line
  /// Dialogue at -20 LUFS, strongly compressed by `compr`, or by `dynrng` in frames without
  /// `compr`.
  case rf
  /// Dialogue at -31 LUFS, with the full dynamic range.
  case off

  /// The level at which dialogue is decoded, in LUFS.
  public var dialogueLevel: Int { self == .rf ? -20 : -31 }

  /// Sets the options of libavcodec's AC-3 and E-AC-3 decoders for this mode. The decoders apply
  /// the gains to the spectrum of each block, as A/52 specifies, so that the window of the
  /// transform fades from one gain to the next.
  func set(on options: inout OpaquePointer?) {
    av_dict_set_int(&options, "target_level", Int64(dialogueLevel), 0)
    av_dict_set(&options, "drc_scale", self == .off ? "0" : "1", 0)
    av_dict_set(&options, "heavy_compr", self == .rf ? "1" : "0", 0)
  }
}
