// SPDX-License-Identifier: Apache-2.0

/// The parameters of the spatial separator. Times are in seconds, frequencies in Hz, angles in
/// radians and levels in dB.
package struct SeparationSettings: Sendable {
  /// Distance of the analysis frames; a window is four times as long.
  package var hopSeconds = 512.0 / 48000
  /// Frequency range of the direction analysis.
  package var directionRange = 250.0...4500.0
  /// Smoothing of the intensity and of the present level (`present`) and of the long-term level.
  package var present = 0.03
  package var longTerm = 1.0
  /// Decay of the direction histogram.
  package var histogramDecay = 0.35
  /// Least angle between two sources, and the largest step of one source.
  package var separation = 0.785
  package var association = 0.52
  /// A peak counts from this part of the highest peak on.
  package var relativePeak: Float = 0.3
  /// Smoothing of the strength of a source, and the part of the strongest source's strength from
  /// which a source is active.
  package var strengthTime = 0.6
  package var activeStrength: Float = 0.1
  /// Smoothing of the noise power and of the power of the sources.
  package var noiseTime = 0.08
  package var sourceTime = 0.03
  /// Factor of the noise power in the spectral subtraction, and its least gain.
  package var subtraction: Float = 2.2
  package var leastGain: Float = 0.03
  /// Smoothing of the logarithmic envelope before (`fast`) and after (`slow`) the modulation
  /// range, and the time over which modulation and tonality are averaged.
  package var fast = 0.03
  package var slow = 0.25
  package var evidenceTime = 0.7
  /// Tonality above `freeTonality` lowers the modulation by `tonalityWeight` dB per unit.
  package var freeTonality: Float = 0.12
  package var tonalityWeight: Float = 10
  /// Modulation that is assumed of a new source, and the range from no speech to speech.
  package var assumedModulation: Float = 2
  package var speechModulation: (none: Float, full: Float) = (0.9, 1.5)
  /// Highest peak of the histogram relative to its mean: range from diffuse to directional sound.
  package var concentration: (none: Float, full: Float) = (4, 8)
  /// Concentration of the histogram, averaged over `evidenceTime` with its highest peak as weight:
  /// range from a reverberant to a free field. In a reverberant field, the beams are wider, and
  /// less noise is subtracted.
  package var freeField: (none: Float, full: Float) = (20, 34)
  package var reverberantBeam: Float = 0.3
  package var reverberantSubtraction: Float = 0.7
  /// Range of the same value from a crowded to a clear field. In a crowded field, these values
  /// replace `relativePeak` and `activeStrength`.
  package var clearField: (none: Float, full: Float) = (24, 46)
  /// The part of the histogram that is lost per frame in a field that has just become reverberant
  /// but is not diffuse, so that the beginning of a talker is found soon.
  package var histogramLoss: Float = 0.1
  package var crowdedPeak: Float = 0.7
  package var crowdedStrength: Float = 0.6
  /// Level of the subtracted sound relative to the noise: range from pause to speech, and the
  /// fall per second of the held level.
  package var gateRange: (none: Float, full: Float) = (-12, -6)
  package var gateFall = 120.0
  /// Gain of a beam in pauses and for sources that are not speech. It is the same in all bins, so
  /// that the remaining noise keeps its character.
  package var pauseGain: Float = 0.1
  /// The expander of `studio`: threshold relative to the loudest recent level, slope (dB per dB),
  /// greatest reduction, and the fall per second of the loudest level.
  package var expanderThreshold: Float = -6
  package var expanderSlope: Float = 3.5
  package var expanderDepth: Float = 20
  package var loudestFall = 10.0
  /// Width of the transition at the edge of the field of view.
  package var frameEdge = 0.1745

  package init() {}
}
