// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

/// How an AC-3 or E-AC-3 decoder uses the words on level that are sent with the sound.
///
/// In every mode dialogue comes out at one level whatever level it was coded at.
public enum DynamicRange: String, Sendable, CaseIterable {
  /// Dialogue at -31 LUFS; louder and softer sound is brought nearer to it by `dynrng`.
  case line
  /// Dialogue at -20 LUFS, and strongly compressed by `compr`; by `dynrng` in frames without one.
  case rf
  /// Dialogue at -31 LUFS, and the full dynamic range.
  case off

  /// LUFS.
  public var dialogueLevel: Int { self == .rf ? -20 : -31 }

  /// libavcodec applies the words: to the spectrum of each block, as the standard has it, so that
  /// the transform's window leads over from one gain to the next.
  func set(on options: inout OpaquePointer?) {
    av_dict_set_int(&options, "target_level", Int64(dialogueLevel), 0)
    av_dict_set(&options, "drc_scale", self == .off ? "0" : "1", 0)
    av_dict_set(&options, "heavy_compr", self == .rf ? "1" : "0", 0)
  }
}
