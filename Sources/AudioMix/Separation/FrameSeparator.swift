// SPDX-License-Identifier: Apache-2.0

internal import CRealtime
internal import SignalProcessing

/// Separates the image of the talkers from a first-order soundfield, one analysis frame per call of
/// `process`.
struct FrameSeparator: ~Copyable {
  /// The camera's horizontal field of view, in radians.
  var fieldOfView = 0.0

  private let hopFrames: Int
  private let windowFrames: Int
  private let settings: SeparationSettings
  private let fft: RealFFT
  private let window: AlignedFloats
  private let time: AlignedFloats
  private let interleavedRe, interleavedIm: AlignedFloats
  /// The spectra of W, Y, Z and X.
  private let real, imaginary: AlignedFloats
  /// The power spectrum of W.
  private let fieldPowers: AlignedFloats
  private var histogram: DirectionHistogram
  private let directions: FieldDirections
  private var tracker: SourceTracker
  private var beams: SourceBeams
  private var evidence: SpeechEvidence
  private var reverberance: Reverberance
  private var stems: StemGains
  private var weights = SourceWeights()
  /// Nil without a speech enhancer.
  private let enhanced: EnhancedFrames?

  /// The number of hops by which the images lag behind the input of `process`.
  var delayHops: Int { enhanced == nil ? 0 : EnhancedFrames.delayHops }

  init(
    sampleRate: Double, hopFrames: Int, settings: SeparationSettings,
    enhancer: (any SpeechEnhancer)?
  ) {
    self.hopFrames = hopFrames
    self.settings = settings
    windowFrames = 4 * hopFrames
    var size = 32
    while size < windowFrames { size *= 2 }
    let (hop, width) = (Double(hopFrames) / sampleRate, sampleRate / Double(size))
    fft = RealFFT(size: size, batch: 4)
    let bins = fft.bins
    window = AlignedFloats(count: windowFrames)
    for i in 0..<windowFrames {
      window.pointer[i] = Float(
        realtime_sin(.pi * (Double(i) + 0.5) / Double(windowFrames)))
    }
    time = AlignedFloats(count: 4 * size)
    interleavedRe = AlignedFloats(count: 4 * bins)
    interleavedIm = AlignedFloats(count: 4 * bins)
    func place(_ frequency: Double) -> Int { min(bins - 1, Int(frequency / width)) }
    beams = SourceBeams(
      bins: bins, band: place(300)..<(place(5000) + 1), hop: hop, settings: settings)
    let stride = beams.stride
    enhanced = enhancer.map {
      EnhancedFrames(enhancer: $0, hopFrames: hopFrames, size: size, stride: stride)
    }
    real = AlignedFloats(count: 4 * beams.stride)
    imaginary = AlignedFloats(count: 4 * beams.stride)
    fieldPowers = AlignedFloats(count: beams.stride)
    histogram = DirectionHistogram(hop: hop, decay: settings.histogramDecay)
    let range = settings.directionRange
    directions = FieldDirections(
      bins: place(range.lowerBound)..<(place(range.upperBound) + 1), hop: hop,
      settings: settings)
    tracker = SourceTracker(hop: hop, settings: settings)
    evidence = SpeechEvidence(binWidth: width, bins: bins, hop: hop, settings: settings)
    reverberance = Reverberance(hop: hop, settings: settings)
    stems = StemGains(hop: hop, settings: settings)
  }

  mutating func reset() {
    histogram.reset()
    directions.reset()
    tracker.reset()
    beams.reset()
    evidence.reset()
    reverberance.reset()
    stems.reset()
    enhanced?.reset()
  }

  /// Processes one analysis frame, and adds the images of the analysis frame `delayHops` earlier to
  /// the overlap-add buffers.
  ///
  /// - Parameters:
  ///   - field: 4 planes of `windowFrames` samples, with a magnitude of at most 10 000.
  ///   - sums: `windowFrames` x 12: 4 channels each of the image, the framed image and the studio
  ///     image.
  mutating func process(
    _ field: UnsafePointer<Float>, addingTo sums: UnsafeMutablePointer<Float>
  ) {
    analyse(field)
    let loss =
      settings.histogramLoss * reverberance.new
      * ramp(histogram.concentration, settings.concentration)
    directions.process(
      real: real.pointer, imaginary: imaginary.pointer, stride: beams.stride, into: histogram,
      loss: loss)
    histogram.update()
    reverberance.update(histogram)
    tracker.update(histogram, crowding: reverberance.crowding)
    beams.process(
      real: real.pointer, imaginary: imaginary.pointer, sources: tracker.sources,
      reverberance: reverberance.lasting)
    weigh()
    enhanced?.exchange(beams, &weights)
    guard weights.count > 0 else {
      _ = stems.expansion(power: 0)
      return
    }
    let power = image(framed: false)
    let studio = stems.expansion(power: power)
    add(to: sums, at: 0, gain: 1)
    add(to: sums, at: 8, gain: studio)
    var (least, most): (Float, Float) = (1, 0)
    for s in 0..<weights.count {
      (least, most) = (min(least, weights.framing[s]), max(most, weights.framing[s]))
    }
    guard most > 0 else { return }
    if least < most {
      _ = image(framed: true)
      add(to: sums, at: 4, gain: 1)
    } else {
      add(to: sums, at: 4, gain: most)
    }
  }

  private func analyse(_ field: UnsafePointer<Float>) {
    for i in 0..<windowFrames {
      let weight = window.pointer[i]
      for c in 0..<4 { time.pointer[4 * i + c] = field[c * windowFrames + i] * weight }
    }
    for i in (4 * windowFrames)..<max(4 * windowFrames, 4 * fft.size) { time.pointer[i] = 0 }
    fft.forward(time.pointer, real: interleavedRe.pointer, imaginary: interleavedIm.pointer)
    for c in 0..<4 {
      let (re, im) = (real.pointer + c * beams.stride, imaginary.pointer + c * beams.stride)
      for k in 0..<fft.bins {
        re[k] = interleavedRe.pointer[4 * k + c]
        im[k] = interleavedIm.pointer[4 * k + c]
      }
    }
    let (re, im) = (real.pointer, imaginary.pointer)
    for k in 0..<fft.bins { fieldPowers.pointer[k] = re[k] * re[k] + im[k] * im[k] }
  }

  private mutating func weigh() {
    evidence.advance()
    weights.count = beams.count
    let trust = 1 - reverberance.new
    let directional = ramp(histogram.concentration, settings.concentration) * trust
    // Strong reverberation hides the direction of a talker. More of the beam is then kept.
    let hidden =
      evidence.fieldProbability(powers: fieldPowers.pointer)
      * ramp(reverberance.lasting, settings.hidingReverberance)
    for s in 0..<beams.count {
      let slot = beams.slots[s]
      let source = tracker.sources[slot]
      let speech =
        directional
        * evidence.probability(
          slot: slot, identity: source.identity,
          powers: beams.nulled.pointer + s * beams.stride)
      let opening = stems.opening(
        slot: slot, identity: source.identity, power: beams.power[s], noise: beams.noise[s])
      weights.steering[s] = beams.steering[s]
      weights.voice[s] = speech * opening
      let beamGain = settings.pauseGain + settings.hiddenGain * hidden * opening
      weights.beam[s] = (1 - speech * opening) * beamGain
      let azimuth = abs(
        realtime_atan2(Double(source.direction.y), Double(source.direction.x)))
      weights.framing[s] = Float(
        min(1, max(0, 1 - (azimuth - fieldOfView / 2) / settings.frameEdge)))
    }
  }

  /// Computes the image of the sources and stores it in `time`.
  ///
  /// - Parameter framed: whether to weight the sources with `framing`.
  /// - Returns: the sum of the powers over all sources and bins.
  private func image(framed: Bool) -> Float {
    let (re, im) = (interleavedRe.pointer, interleavedIm.pointer)
    var power: Float = 0
    let (voiceRe, voiceIm, beamRe, beamIm) =
      enhanced.map {
        ($0.voiceRe.pointer, $0.voiceIm.pointer, $0.beamRe.pointer, $0.beamIm.pointer)
      }
      ?? (
        beams.voiceRe.pointer, beams.voiceIm.pointer, beams.beamRe.pointer, beams.beamIm.pointer
      )
    for s in 0..<weights.count {
      let part = framed ? weights.framing[s] : 1
      let (voice, beam) = (weights.voice[s] * part, weights.beam[s] * part)
      let at = s * beams.stride
      let (vr, vi) = (voiceRe + at, voiceIm + at)
      let (br, bi) = (beamRe + at, beamIm + at)
      let g = weights.steering[s]
      for k in 0..<fft.bins {
        let (a, b) = (vr[k] * voice + br[k] * beam, vi[k] * voice + bi[k] * beam)
        power += a * a + b * b
        for c in 0..<4 {
          re[4 * k + c] = (s == 0 ? 0 : re[4 * k + c]) + a * g[c]
          im[4 * k + c] = (s == 0 ? 0 : im[4 * k + c]) + b * g[c]
        }
      }
    }
    fft.inverse(real: re, imaginary: im, time: time.pointer)
    return power
  }

  private func add(to sums: UnsafeMutablePointer<Float>, at lane: Int, gain: Float) {
    // The overlapping squared windows add up to 2.
    let scale = gain * 0.5
    for i in 0..<windowFrames {
      let weight = window.pointer[i] * scale
      for c in 0..<4 { sums[12 * i + lane + c] += time.pointer[4 * i + c] * weight }
    }
  }
}
