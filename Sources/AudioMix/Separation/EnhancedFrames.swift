// SPDX-License-Identifier: Apache-2.0

internal import CRealtime
internal import SignalProcessing

/// The gains of the sources in one analysis frame.
struct SourceWeights: BitwiseCopyable {
  /// The number of active sources. Only the first `count` elements of the other members are used.
  var count = 0
  var steering = InlineArray<3, SIMD4<Float>>(repeating: .zero)
  /// The gain of the signal `voiceRe`, `voiceIm`: the beam after the spectral subtraction.
  var voice = InlineArray<3, Float>(repeating: 0)
  /// The gain of the signal `beamRe`, `beamIm`: the beam before the spectral subtraction.
  var beam = InlineArray<3, Float>(repeating: 0)
  /// The weight in the framed image: 1 inside the field of view, falling to 0 outside it.
  var framing = InlineArray<3, Float>(repeating: 0)
}

/// Passes the sum of the beams through a speech enhancer, and applies the resulting mask to the
/// beams. The beams are delayed until their mask is known.
///
/// The mask of a bin is M = |enhanced sum| / |sum|, at most 1. The gain g of the spectral
/// subtraction becomes sqrt(M g).
final class EnhancedFrames {
  /// The delay in analysis frames: three for the overlapping windows and four for the enhancer.
  static let delayHops = 3 + enhancerHops
  private static let enhancerHops = 4
  /// Every 15th hop begins at the same frame as one of the enhancer's blocks of 480 frames.
  static let alignmentHops = 15

  /// The spectra of the delayed analysis frame, arranged as in `SourceBeams`.
  let beamRe, beamIm, voiceRe, voiceIm: AlignedFloats

  private let enhancer: any SpeechEnhancer
  private let hopFrames: Int
  private let stride: Int
  private let window: AlignedFloats
  private let single: RealFFT
  private let pair: RealFFT
  private let time, real, imaginary: AlignedFloats
  private let mask: AlignedFloats
  /// The sum of the beams in the time domain, added up over the overlapping windows. After
  /// `addSum`, the first hop is complete.
  private let sum: AlignedFloats
  /// The newest eight hops of the sum (`plain`), and the newest four hops of the enhanced sum
  /// (`enhanced`).
  private let plain, enhanced: AlignedFloats
  /// The beams of each delayed analysis frame, and the gains of their spectral subtraction.
  private let stored: AlignedFloats
  private var storedWeights = [SourceWeights](repeating: SourceWeights(), count: delayHops)
  private var place = 0

  /// Prepares the enhancement.
  ///
  /// - Parameters:
  ///   - hopFrames: the hop in frames, which must be a quarter of the enhancer's delay.
  ///   - size: the size of the transform, at least `4 * hopFrames`.
  ///   - stride: floats from one plane of `SourceBeams` to the next.
  init(enhancer: any SpeechEnhancer, hopFrames: Int, size: Int, stride: Int) {
    precondition(hopFrames * Self.enhancerHops == speechEnhancerDelayFrames)
    (self.enhancer, self.hopFrames, self.stride) = (enhancer, hopFrames, stride)
    let windowFrames = 4 * hopFrames
    window = AlignedFloats(count: windowFrames)
    for i in 0..<windowFrames {
      window.pointer[i] = Float(realtime_sin(.pi * (Double(i) + 0.5) / Double(windowFrames)))
    }
    single = RealFFT(size: size)
    pair = RealFFT(size: size, batch: 2)
    time = AlignedFloats(count: 2 * size)
    real = AlignedFloats(count: 2 * single.bins)
    imaginary = AlignedFloats(count: 2 * single.bins)
    mask = AlignedFloats(count: single.bins)
    sum = AlignedFloats(count: windowFrames)
    plain = AlignedFloats(count: 2 * windowFrames)
    enhanced = AlignedFloats(count: windowFrames)
    stored = AlignedFloats(count: Self.delayHops * 9 * stride)
    beamRe = AlignedFloats(count: 3 * stride)
    beamIm = AlignedFloats(count: 3 * stride)
    voiceRe = AlignedFloats(count: 3 * stride)
    voiceIm = AlignedFloats(count: 3 * stride)
  }

  func reset() {
    enhancer.reset()
    sum.clear()
    plain.clear()
    enhanced.clear()
    for i in 0..<Self.delayHops { storedWeights[i] = SourceWeights() }
  }

  /// Takes the beams and weights of the next analysis frame, and returns those of the analysis
  /// frame `delayHops` earlier: the weights in `weights`, and the spectra in `beamRe`, `beamIm`,
  /// `voiceRe` and `voiceIm`.
  func exchange(_ beams: borrowing SourceBeams, _ weights: inout SourceWeights) {
    addSum(beams)
    append(sum.pointer, to: plain)
    enhancer.enhance(sum.pointer, frames: hopFrames)
    append(sum.pointer, to: enhanced)
    updateMask()
    let slot = stored.pointer + place * 9 * stride
    let old = storedWeights[place]
    apply(slot, old)
    for k in 0..<(weights.count * stride) {
      slot[k] = beams.beamRe.pointer[k]
      slot[3 * stride + k] = beams.beamIm.pointer[k]
      slot[6 * stride + k] = beams.gain.pointer[k]
    }
    storedWeights[place] = weights
    weights = old
    place = (place + 1) % Self.delayHops
  }

  /// Shifts `sum` by one hop, transforms the sum of the beams to the time domain, and adds the
  /// result to `sum`.
  private func addSum(_ beams: borrowing SourceBeams) {
    let kept = sum.count - hopFrames
    for i in 0..<kept { sum.pointer[i] = sum.pointer[i + hopFrames] }
    for i in kept..<sum.count { sum.pointer[i] = 0 }
    guard beams.count > 0 else { return }
    for k in 0..<single.bins {
      var (re, im): (Float, Float) = (0, 0)
      for s in 0..<beams.count {
        re += beams.beamRe.pointer[s * stride + k]
        im += beams.beamIm.pointer[s * stride + k]
      }
      (real.pointer[k], imaginary.pointer[k]) = (re, im)
    }
    single.inverse(real: real.pointer, imaginary: imaginary.pointer, time: time.pointer)
    // The overlapping squared windows add up to 2.
    for i in 0..<sum.count { sum.pointer[i] += time.pointer[i] * window.pointer[i] * 0.5 }
  }

  private func append(_ hop: UnsafePointer<Float>, to history: borrowing AlignedFloats) {
    let kept = history.count - hopFrames
    for i in 0..<kept { history.pointer[i] = history.pointer[i + hopFrames] }
    copyFrames(hop, history.pointer + kept, hopFrames)
  }

  private func updateMask() {
    time.clear()
    for i in 0..<window.count {
      time.pointer[2 * i] = plain.pointer[i] * window.pointer[i]
      time.pointer[2 * i + 1] = enhanced.pointer[i] * window.pointer[i]
    }
    pair.forward(time.pointer, real: real.pointer, imaginary: imaginary.pointer)
    let (re, im) = (real.pointer, imaginary.pointer)
    for k in 0..<pair.bins {
      let before = re[2 * k] * re[2 * k] + im[2 * k] * im[2 * k]
      let after = re[2 * k + 1] * re[2 * k + 1] + im[2 * k + 1] * im[2 * k + 1]
      mask.pointer[k] = realtime_sqrtf(min(1, after / (before + 1e-20)))
    }
  }

  private func apply(_ slot: UnsafePointer<Float>, _ weights: SourceWeights) {
    for s in 0..<weights.count {
      for k in 0..<single.bins {
        let at = s * stride + k
        let gain = realtime_sqrtf(mask.pointer[k] * slot[6 * stride + at])
        (beamRe.pointer[at], beamIm.pointer[at]) = (slot[at], slot[3 * stride + at])
        voiceRe.pointer[at] = slot[at] * gain
        voiceIm.pointer[at] = slot[3 * stride + at] * gain
      }
    }
  }
}
