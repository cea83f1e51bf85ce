// SPDX-License-Identifier: Apache-2.0

/// The order of the planes of separated sound.
///
/// The channels of the soundfield come first, then C (4 planes), C_f (4 planes), D (4 planes) and
/// S_d (1 plane). `MixGains` explains these names.
public enum StemPlanes {
  /// The number of planes after the channels of the soundfield.
  public static let count = 13
  static let image = 0
  static let framedImage = 4
  static let studioImage = 8
  static let studioSpeech = 12
}
