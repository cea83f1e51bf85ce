// SPDX-License-Identifier: Apache-2.0

public import Loudness
public import Media
internal import Rendering

/// The gain that is applied to a source for its loudness, and the reason for it.
public struct LoudnessReport: Sendable, Equatable {
  /// The gain of the frames that are read now [dB]. It becomes audible once the sound already in
  /// the queue has played.
  public var gain: Double
  /// The gain's goal, which it approaches at 0.9 dB/s [dB].
  public var goal: Double
  public var origin: LoudnessKnowledge.Origin
  /// The kind of loudness that the source states, if it is used.
  public var statement: StatedLoudness.Origin?
  /// The loudness at the ears, without the gain [LUFS].
  public var loudness: Double
}
