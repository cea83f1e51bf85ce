// SPDX-License-Identifier: Apache-2.0

public import Loudness
public import Media
internal import Rendering

/// The gain that brings a source to its target loudness, and the evidence for that gain.
public struct LoudnessReport: Sendable, Equatable {
  /// The current gain, in dB.
  public var gain: Double
  /// The gain to reach, in dB.
  public var goal: Double
  /// The origin of the loudness value, such as a scan or metadata.
  public var origin: LoudnessKnowledge.Origin
  /// The kind of metadata that states the loudness; nil if the stated loudness is not used.
  public var statement: StatedLoudness.Origin?
  /// The loudness at the ears without the gain, in LUFS.
  public var loudness: Double
}
