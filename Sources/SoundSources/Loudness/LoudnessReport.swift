// SPDX-License-Identifier: Apache-2.0

public import Loudness
public import Media
internal import Rendering

/// What is done about a source's loudness, and why.
public struct LoudnessReport: Sendable, Equatable {
  /// dB, of what is read now; it is heard when the queue has come to it.
  public var gain: Double
  /// dB, where the gain goes to at 0.9 dB/s.
  public var goal: Double
  public var origin: LoudnessKnowledge.Origin
  /// What the source states, where that counts.
  public var statement: StatedLoudness.Origin?
  /// LUFS at the ears, without the gain.
  public var loudness: Double
}
