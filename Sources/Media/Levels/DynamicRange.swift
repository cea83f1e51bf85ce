// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

/// How decoders apply the level metadata of AC-3, E-AC-3 and AAC.
///
/// Every mode decodes dialogue at one level, regardless of the level at which it was coded.
public enum DynamicRange: String, Sendable, CaseIterable {
  /// Dialogue at -31 LUFS; `dynrng` brings louder and softer sound nearer to it.
  case line
  /// Dialogue at -20 LUFS, strongly compressed by `compr`, or by `dynrng` in frames without
  /// `compr`.
  case rf
  /// Dialogue at -31 LUFS, with the full dynamic range.
  case off

  /// In LUFS.
  public var dialogueLevel: Int { self == .rf ? -20 : -31 }

  /// Sets libavcodec's options for this mode. libavcodec applies the gains to the spectrum of each
  /// block, as the standard specifies, so that the transform's window fades from one gain to the
  /// next.
  func set(on options: inout OpaquePointer?) {
    av_dict_set_int(&options, "target_level", Int64(dialogueLevel), 0)
    av_dict_set(&options, "drc_scale", self == .off ? "0" : "1", 0)
    av_dict_set(&options, "heavy_compr", self == .rf ? "1" : "0", 0)
  }
}
