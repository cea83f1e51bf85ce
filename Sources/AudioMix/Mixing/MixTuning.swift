// SPDX-License-Identifier: Apache-2.0

public import SignalProcessing

/// Corrections of speech and ambience after the separation.
public struct MixTuning: Sendable, Equatable {
  /// The correction of the speech or of the ambience.
  public struct Part: Sendable, Equatable {
    /// The gain in dB. Default: 0.
    public var gainDecibels = 0.0
    /// The filters, in series. Default: none.
    public var equaliser: [ParametricFilter] = []

    public init(gainDecibels: Double = 0, equaliser: [ParametricFilter] = []) {
      (self.gainDecibels, self.equaliser) = (gainDecibels, equaliser)
    }

    /// Whether the gain is 0 dB and there are no filters.
    public var isNeutral: Bool { gainDecibels == 0 && equaliser.isEmpty }
  }

  public var speech: Part
  public var ambience: Part

  /// Creates a tuning, which by default changes nothing.
  public init(speech: Part = Part(), ambience: Part = Part()) {
    (self.speech, self.ambience) = (speech, ambience)
  }

  public var isNeutral: Bool { speech.isNeutral && ambience.isNeutral }
}
