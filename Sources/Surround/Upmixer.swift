// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
internal import SignalProcessing

/// Stereo to 5.1: the centre in front, the ambience around, and nothing lost.
///
/// A short-time Fourier transform splits each channel into what is alike and in phase on both sides
/// (centre), what is unrelated (surrounds) and the rest, which stays where it was. The front
/// channels are what remains of the input: FL = L - 0.7071 FC - 0.7071 SL and FR likewise, so that
/// the fold-down of ITU-R BS.775-4 gives the input again, whatever the split was. The channel for
/// low-frequency effects is silent: stereo has none.
///
/// ## Threading
/// One caller at a time; `process` does not allocate, lock or wait.
public struct Upmixer: ~Copyable, @unchecked Sendable {
  /// FL, FR, FC, LFE, SL, SR.
  public static let layout = ChannelLayout.speakers([
    .frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight,
  ])

  /// Frames that a call of `process` takes and gives.
  public let hopFrames: Int
  /// Frames by which the output is later than the input; with the frames of a call, `windowFrames`.
  public var latencyFrames: Int { windowFrames - hopFrames }
  /// What is heard of a frame depends on so many frames around it.
  public let windowFrames: Int

  private static let overlap = 4
  private let forward: RealFFT
  private let backward: RealFFT
  private let split: PrimaryAmbientSplit
  private let window: AlignedFloats
  /// 2 x window: the input as it came, and what of it is sound.
  private let history: AlignedFloats
  private let clean: AlignedFloats
  private let frame: AlignedFloats
  private let real: AlignedFloats
  private let imaginary: AlignedFloats
  /// Centre and surrounds, of which the first hop is complete: window x 4, interleaved.
  private let sums: AlignedFloats
  private let powerScale: Float

  /// Louder samples are damage, and no part of the split.
  private static let bound: Float = 1e4

  /// - Parameters:
  ///   - sampleRate: Hz, from 1000.
  ///   - settings: how to split.
  public init(sampleRate: Double, settings: UpmixSettings = UpmixSettings()) {
    precondition(sampleRate >= 1000)
    hopFrames = max(8, Int(settings.windowSeconds * sampleRate) / Self.overlap)
    windowFrames = hopFrames * Self.overlap
    var size = 16
    while size < windowFrames { size *= 2 }
    forward = RealFFT(size: size, batch: 2)
    backward = RealFFT(size: size, batch: 4)
    split = PrimaryAmbientSplit(
      bins: size / 2 + 1, binWidth: sampleRate / Double(size),
      hopSeconds: Double(hopFrames) / sampleRate, overlap: Self.overlap, settings: settings)
    window = AlignedFloats(count: windowFrames)
    for i in 0..<windowFrames {
      window.pointer[i] = sine(.pi * (Double(i) + 0.5) / Double(windowFrames))
    }
    // The squared window sums to half of its length.
    powerScale = 2 / Float(windowFrames)
    history = AlignedFloats(count: 2 * windowFrames)
    clean = AlignedFloats(count: 2 * windowFrames)
    frame = AlignedFloats(count: size * 4)
    real = AlignedFloats(count: (size / 2 + 1) * 4)
    imaginary = AlignedFloats(count: (size / 2 + 1) * 4)
    sums = AlignedFloats(count: windowFrames * 4)
  }

  /// Back to the beginning of a stream.
  public func reset() {
    history.clear()
    clean.clear()
    sums.clear()
    split.reset()
  }

  /// Takes the next frames and gives those of `latencyFrames` before.
  ///
  /// Samples that are no number, or beyond 10 000, count as silence in the split and are handed on
  /// in their front channel as they are.
  ///
  /// - Parameters:
  ///   - left: `hopFrames` frames.
  ///   - right: likewise.
  ///   - output: 6 x `hopFrames`, in the order of `layout`, overwritten.
  public func process(
    left: UnsafePointer<Float>, right: UnsafePointer<Float>,
    into output: UnsafePointer<UnsafeMutablePointer<Float>>
  ) {
    take(left, channel: 0)
    take(right, channel: 1)
    analyse()
    split.process(scale: powerScale)
    synthesise()
    give(output)
  }

  private func take(_ input: UnsafePointer<Float>, channel: Int) {
    let (raw, sound) = (
      history.pointer + channel * windowFrames, clean.pointer + channel * windowFrames
    )
    let kept = windowFrames - hopFrames
    for i in 0..<kept {
      raw[i] = raw[i + hopFrames]
      sound[i] = sound[i + hopFrames]
    }
    for i in 0..<hopFrames {
      raw[kept + i] = input[i]
      // False for what is no number, too.
      sound[kept + i] = abs(input[i]) <= Self.bound ? input[i] : 0
    }
  }

  private func analyse() {
    for channel in 0..<2 {
      let sound = clean.pointer + channel * windowFrames
      for i in 0..<windowFrames { frame.pointer[2 * i + channel] = sound[i] * window.pointer[i] }
    }
    for i in (2 * windowFrames)..<max(2 * windowFrames, 2 * forward.size) { frame.pointer[i] = 0 }
    forward.forward(frame.pointer, real: real.pointer, imaginary: imaginary.pointer)
    for k in 0..<split.bins {
      split.left.re.pointer[k] = real.pointer[2 * k]
      split.right.re.pointer[k] = real.pointer[2 * k + 1]
      split.left.im.pointer[k] = imaginary.pointer[2 * k]
      split.right.im.pointer[k] = imaginary.pointer[2 * k + 1]
    }
  }

  private func synthesise() {
    let (re, im) = (real.pointer, imaginary.pointer)
    for k in 0..<split.bins {
      re[4 * k] = split.centre.re.pointer[k]
      re[4 * k + 1] = split.surroundLeft.re.pointer[k]
      re[4 * k + 2] = split.surroundRight.re.pointer[k]
      re[4 * k + 3] = 0
      im[4 * k] = split.centre.im.pointer[k]
      im[4 * k + 1] = split.surroundLeft.im.pointer[k]
      im[4 * k + 2] = split.surroundRight.im.pointer[k]
      im[4 * k + 3] = 0
    }
    backward.inverse(real: re, imaginary: im, time: frame.pointer)
    let kept = 4 * (windowFrames - hopFrames)
    for i in 0..<kept { sums.pointer[i] = sums.pointer[i + 4 * hopFrames] }
    for i in kept..<(4 * windowFrames) { sums.pointer[i] = 0 }
    // Squared windows add up to half of the overlap.
    let scale = 2 / Float(Self.overlap)
    for i in 0..<windowFrames {
      let weight = window.pointer[i] * scale
      for lane in 0..<4 { sums.pointer[4 * i + lane] += frame.pointer[4 * i + lane] * weight }
    }
  }

  private func give(_ output: UnsafePointer<UnsafeMutablePointer<Float>>) {
    let half: Float = 0.707_106_77
    for i in 0..<hopFrames {
      let (c, sl, sr) = (
        sums.pointer[4 * i], sums.pointer[4 * i + 1], sums.pointer[4 * i + 2]
      )
      output[0][i] = history.pointer[i] - half * (c + sl)
      output[1][i] = history.pointer[windowFrames + i] - half * (c + sr)
      output[2][i] = c
      output[3][i] = 0
      output[4][i] = sl
      output[5][i] = sr
    }
  }
}
