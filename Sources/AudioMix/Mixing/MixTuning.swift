// SPDX-License-Identifier: Apache-2.0

public import SignalProcessing

/// Corrections that are applied to speech and ambience after the separation.
public struct MixTuning: Sendable, Equatable {
  /// The correction of one part.
  public struct Part: Sendable, Equatable {
    /// In dB. Default: 0.
    public var gainDecibels = 0.0
    /// Filters in series. Default: none.
    public var equaliser: [ParametricFilter] = []

    public init(gainDecibels: Double = 0, equaliser: [ParametricFilter] = []) {
      (self.gainDecibels, self.equaliser) = (gainDecibels, equaliser)
    }

    /// Whether the correction changes nothing.
    public var isNeutral: Bool { gainDecibels == 0 && equaliser.isEmpty }
  }

  public var speech: Part
  public var ambience: Part

  /// Creates a tuning. Without arguments, it changes nothing.
  public init(speech: Part = Part(), ambience: Part = Part()) {
    (self.speech, self.ambience) = (speech, ambience)
  }

  public var isNeutral: Bool { speech.isNeutral && ambience.isNeutral }
}
