// SPDX-License-Identifier: Apache-2.0

/// The order of the planes that `MixStage` writes and `StemMixer` reads.
///
/// The input channels of `MixStage`, including head-locked channels, come first, then C (4 planes),
/// C_f (4 planes), D (4 planes) and S_d (1 plane). `MixGains` explains these names.
public enum StemPlanes {
  /// The number of planes after the input channels.
  public static let count = 13

  // These are not constants, because the compiler reports an access to a constant of another file
  // as a possible lock.
  static var image: Int { @_noLocks get { 0 } }
  static var framedImage: Int { @_noLocks get { 4 } }
  static var studioImage: Int { @_noLocks get { 8 } }
  static var studioSpeech: Int { @_noLocks get { 12 } }
}
