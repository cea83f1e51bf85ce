// SPDX-License-Identifier: Apache-2.0

/// The parameters of the spatial separator. Times are in seconds, frequencies in Hz, angles in
/// radians and levels in dB. Gains are factors.
package struct SeparationSettings: Sendable {
  /// The time between the starts of two consecutive analysis frames. An analysis frame is four
  /// times as long.
  package var hopSeconds = 512.0 / 48000
  /// The frequency range of the direction analysis.
  package var directionRange = 250.0...4500.0
  /// The time constant over which the intensity, the energy and the present power of W are
  /// averaged; see `FieldDirections`.
  package var present = 0.03
  /// The time constant over which the long-term power of W is averaged; see `FieldDirections`.
  package var longTerm = 1.0
  /// The time constant with which the direction histogram decays.
  package var histogramDecay = 0.35
  /// The least angle between two sources.
  package var separation = 0.785
  /// The largest angle between a peak of the histogram and the source to which it is assigned.
  package var association = 0.52
  /// The least height, relative to the highest peak, of a peak that can be a source.
  package var relativePeak: Float = 0.3
  /// The time constant over which the strength of a source is averaged.
  package var strengthTime = 0.6
  /// The least strength of an active source, relative to that of the strongest source.
  package var activeStrength: Float = 0.1
  /// The time constant over which the noise power is averaged.
  package var noiseTime = 0.08
  /// The time constant over which the power of a source is averaged.
  package var sourceTime = 0.03
  /// The factor of the noise power in the spectral subtraction.
  package var subtraction: Float = 2.2
  /// The least gain of the spectral subtraction.
  package var leastGain: Float = 0.03
  /// The time constant of the fast mean of a source's level; see `SpeechEvidence`.
  package var fast = 0.03
  /// The time constant of the slow mean of a source's level.
  package var slow = 0.25
  /// The time constant over which modulation, tonality and reverberance are averaged.
  package var evidenceTime = 0.7
  /// If the tonality exceeds `freeTonality`, `tonalityWeight` times the excess is subtracted from
  /// the modulation.
  package var freeTonality: Float = 0.12
  package var tonalityWeight: Float = 10
  /// The modulation that is assumed for a new source.
  package var assumedModulation: Float = 2
  /// The modulation up to which a source does not count as speech (`none`), and from which it fully
  /// counts as speech (`full`). It is compared after the subtraction for tonality.
  package var speechModulation: (none: Float, full: Float) = (0.9, 1.5)
  /// The concentration of the histogram up to which the sound counts as diffuse (`none`), and from
  /// which it counts as directional (`full`).
  package var concentration: (none: Float, full: Float) = (4, 8)
  /// The averaged concentration of the histogram up to which the field counts as reverberant
  /// (`none`), and from which it counts as free (`full`).
  package var freeField: (none: Float, full: Float) = (20, 34)
  /// The weight of each beam in a field that stays reverberant. W is added with the weight
  /// 1 - `reverberantBeam`.
  package var reverberantBeam: Float = 0.3
  /// Replaces `subtraction` in a field that stays reverberant.
  package var reverberantSubtraction: Float = 0.7
  /// The lasting reverberance above which the direction of a talker begins to be hidden (`none`),
  /// and from which it is completely hidden (`full`).
  package var hidingReverberance: (none: Float, full: Float) = (0.6, 1)
  /// The increase of `pauseGain` while a talker's direction is completely hidden, the field sounds
  /// like speech and the source's gate is open (see `gateRange`).
  package var hiddenGain: Float = 0.35
  /// The averaged concentration of the histogram up to which the field counts as crowded (`none`),
  /// and from which it counts as clear (`full`).
  package var clearField: (none: Float, full: Float) = (24, 46)
  /// The greatest additional loss of the histogram per analysis frame, as a fraction, in a field
  /// that has just become reverberant.
  package var histogramLoss: Float = 0.1
  /// Replaces `relativePeak` in a crowded field.
  package var crowdedPeak: Float = 0.7
  /// Replaces `activeStrength` in a crowded field.
  package var crowdedStrength: Float = 0.6
  /// The level of a source up to which its gate is closed (`none`), and from which it is fully open
  /// (`full`). The level is measured after the spectral subtraction, relative to the noise of the
  /// source's beam.
  package var gateRange: (none: Float, full: Float) = (-12, -6)
  /// The greatest fall, in dB per second, of the level that controls a source's gate.
  package var gateFall = 120.0
  /// The gain of a beam in pauses and for sources that are not speech.
  package var pauseGain: Float = 0.1
  /// The threshold of the expander of `studio`, relative to the loudest recent level.
  package var expanderThreshold: Float = -6
  /// The reduction by the expander, in dB, for each dB below `expanderThreshold`.
  package var expanderSlope: Float = 3.5
  /// The greatest reduction by the expander.
  package var expanderDepth: Float = 20
  /// The fall of the loudest recent level, in dB per second.
  package var loudestFall = 10.0
  /// The width of the transition outside each edge of the field of view.
  package var frameEdge = 0.1745

  package init() {}
}
