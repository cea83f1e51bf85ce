// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
internal import SignalProcessing

/// Converts stereo to 5.1, with the centre in front and the ambience around the listener.
///
/// The upmixer analyses both channels with a short-time Fourier transform. It extracts the part
/// that is equal and in phase on both sides (centre) and the uncorrelated part (surrounds). The
/// remainder stays in the front channels: FL = L - 0.7071 FC - 0.7071 SL, and FR likewise. The
/// fold-down of ITU-R BS.775-4 therefore restores the input. The channel for low-frequency effects
/// is silent.
///
/// ## Threading
/// Use an upmixer from one thread at a time. `process` does not allocate, lock or wait.
public struct Upmixer: ~Copyable, @unchecked Sendable {
  /// The output channels: FL, FR, FC, LFE, SL, SR.
  public static let layout = ChannelLayout.speakers([
    .frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight,
  ])

  /// The number of frames in a call of `process`.
  public let hopFrames: Int
  /// The delay of the output relative to the input of the same call, in frames.
  public var latencyFrames: Int { windowFrames - hopFrames }
  /// The length of the analysis window, in frames.
  public let windowFrames: Int

  private static let overlap = 4
  private let forward: RealFFT
  private let backward: RealFFT
  private let split: PrimaryAmbientSplit
  private let window: AlignedFloats
  /// The newest input, 2 channels x `windowFrames`: unchanged (`history`), and with invalid samples
  /// set to 0 (`clean`).
  private let history: AlignedFloats
  private let clean: AlignedFloats
  private let frame: AlignedFloats
  private let real: AlignedFloats
  private let imaginary: AlignedFloats
  /// Overlap-add sums, windowFrames x 4: centre, left surround, right surround, unused. The first
  /// `hopFrames` frames are complete.
  private let sums: AlignedFloats
  private let powerScale: Float

  /// The largest valid magnitude of a sample.
  private static let bound: Float = 1e4

  /// Allocates the memory that `process` uses, and computes the window.
  ///
  /// - Parameters:
  ///   - sampleRate: the sample rate in Hz, at least 1000.
  ///   - settings: the length of the window and the parameters of the split.
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
    // The squares of the window add up to half the length of the window.
    powerScale = 2 / Float(windowFrames)
    history = AlignedFloats(count: 2 * windowFrames)
    clean = AlignedFloats(count: 2 * windowFrames)
    frame = AlignedFloats(count: size * 4)
    real = AlignedFloats(count: (size / 2 + 1) * 4)
    imaginary = AlignedFloats(count: (size / 2 + 1) * 4)
    sums = AlignedFloats(count: windowFrames * 4)
  }

  /// Resets the upmixer for a new stream.
  public func reset() {
    history.clear()
    clean.clear()
    sums.clear()
    split.reset()
  }

  /// Takes `hopFrames` frames and writes as many, delayed by `latencyFrames`.
  ///
  /// NaN and samples with a magnitude above 10 000 count as silence in the split, but remain in
  /// their front channel.
  ///
  /// - Parameters:
  ///   - left: `hopFrames` samples.
  ///   - right: `hopFrames` samples.
  ///   - output: 6 channels x `hopFrames` in the order of `layout`, overwritten.
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
      // The comparison is also false for NaN.
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
    // The overlapping squared windows add up to half the overlap.
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
