// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

/// How decoders apply the level metadata of AC-3, E-AC-3 and AAC.
///
/// If the stream states its dialogue level, each mode brings dialogue to a fixed level. `dynrng`
/// and `compr` are gains in AC-3 and E-AC-3. AAC has one gain, which `line` and `rf` both apply.
public enum DynamicRange: String, Sendable, CaseIterable {
  /// Dialogue at -31 LUFS, with the gain `dynrng`.
  case line
  /// Dialogue at -20 LUFS, with the gain `compr` or, in frames without it, `dynrng`.
  case rf
  /// Dialogue at -31 LUFS, with the full dynamic range.
  case off

  /// The level at which dialogue is decoded, in LUFS.
  public var dialogueLevel: Int { self == .rf ? -20 : -31 }

  /// Sets the options of libavcodec's AC-3 and E-AC-3 decoders for this mode.
  func set(on options: inout OpaquePointer?) {
    av_dict_set_int(&options, "target_level", Int64(dialogueLevel), 0)
    av_dict_set(&options, "drc_scale", self == .off ? "0" : "1", 0)
    av_dict_set(&options, "heavy_compr", self == .rf ? "1" : "0", 0)
  }
}
