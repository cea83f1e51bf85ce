// SPDX-License-Identifier: Apache-2.0

/// The parameters of the spatial separator. Times are in seconds, frequencies in Hz, angles in
/// radians and levels in dB.
package struct SeparationSettings: Sendable {
  /// The time between the starts of two consecutive analysis windows. A window is four times as
  /// long.
  package var hopSeconds = 512.0 / 48000
  /// The frequency range of the direction analysis.
  package var directionRange = 250.0...4500.0
  /// The time constant for the intensity, the energy and the present level.
  package var present = 0.03
  /// The time constant for the long-term level.
  package var longTerm = 1.0
  /// The time constant of the decay of the direction histogram.
  package var histogramDecay = 0.35
  /// The least angle between two sources.
  package var separation = 0.785
  /// The largest angle between a source and a peak of the next analysis frame that is assigned to
  /// the source.
  package var association = 0.52
  /// The least height of a peak relative to the highest peak.
  package var relativePeak: Float = 0.3
  /// The time constant for the strength of a source.
  package var strengthTime = 0.6
  /// The least strength of an active source relative to the strongest source.
  package var activeStrength: Float = 0.1
  /// The time constants for the noise power and the power of the sources.
  package var noiseTime = 0.08
  package var sourceTime = 0.03
  /// The factor of the noise power in the spectral subtraction, and the least gain.
  package var subtraction: Float = 2.2
  package var leastGain: Float = 0.03
  /// The time constants of the fast and the slow mean of the level.
  package var fast = 0.03
  package var slow = 0.25
  /// The time constant for modulation, tonality and reverberance.
  package var evidenceTime = 0.7
  /// Tonality above `freeTonality` lowers the modulation by `tonalityWeight` dB per unit.
  package var freeTonality: Float = 0.12
  package var tonalityWeight: Float = 10
  /// The modulation that is assumed for a new source.
  package var assumedModulation: Float = 2
  /// The modulation of a source that is certainly not speech, and of a source that is certainly
  /// speech.
  package var speechModulation: (none: Float, full: Float) = (0.9, 1.5)
  /// The concentration of the histogram for diffuse sound and for directional sound.
  package var concentration: (none: Float, full: Float) = (4, 8)
  /// The averaged concentration of the histogram in a reverberant field and in a free field. In a
  /// reverberant field, the beams are wider, and less noise is subtracted.
  package var freeField: (none: Float, full: Float) = (20, 34)
  package var reverberantBeam: Float = 0.3
  package var reverberantSubtraction: Float = 0.7
  /// The lasting reverberance above which a talker is hard to find, and at which the talker is
  /// hidden. `hiddenGain` is then added to `pauseGain` while the field sounds like speech.
  package var hidingReverberance: (none: Float, full: Float) = (0.6, 1)
  package var hiddenGain: Float = 0.35
  /// The averaged concentration in a crowded field and in a clear field. In a crowded field,
  /// `crowdedPeak` and `crowdedStrength` replace `relativePeak` and `activeStrength`.
  package var clearField: (none: Float, full: Float) = (24, 46)
  /// The largest part of the histogram that is lost per analysis frame in a field that has just
  /// become reverberant.
  package var histogramLoss: Float = 0.1
  package var crowdedPeak: Float = 0.7
  package var crowdedStrength: Float = 0.6
  /// The level of a source after the spectral subtraction relative to the noise, in a pause and in
  /// speech.
  package var gateRange: (none: Float, full: Float) = (-12, -6)
  /// How far the level that controls the gate can fall in a second.
  package var gateFall = 120.0
  /// The gain of a beam in pauses and for sources that are not speech.
  package var pauseGain: Float = 0.1
  /// The threshold of the expander of `studio`, relative to the loudest recent level.
  package var expanderThreshold: Float = -6
  /// The reduction for each dB below the threshold.
  package var expanderSlope: Float = 3.5
  /// The greatest reduction.
  package var expanderDepth: Float = 20
  /// How far the loudest recent level falls in a second.
  package var loudestFall = 10.0
  /// The width of the transition at the edge of the field of view.
  package var frameEdge = 0.1745

  package init() {}
}
