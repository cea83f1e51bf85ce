// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Testing

@testable import AudioMix

/// A sound with the properties of speech by which the separator recognises it: syllables at 4 Hz
/// and harmonics of a moving fundamental.
func syntheticVoice(frames: Int, sampleRate: Double) -> [Float] {
  var phase = 0.0
  return (0..<frames).map { frame in
    let t = Double(frame) / sampleRate
    let glide = 40 * realtime_sin(2 * .pi * 1.3 * t) + 15 * realtime_sin(2 * .pi * 3.1 * t)
    let fundamental = 150 + glide
    phase += 2 * .pi * fundamental / sampleRate
    let syllable = max(0, realtime_sin(2 * .pi * 4 * t))
    var sum = 0.0
    for h in 1...20 where Double(h) * fundamental < 0.45 * sampleRate {
      sum += realtime_sin(Double(h) * phase) / Double(h)
    }
    return Float(0.1 * syllable * syllable * sum)
  }
}

/// A chord of steady tones.
func steadyChord(frames: Int, sampleRate: Double) -> [Float] {
  (0..<frames).map { frame in
    let t = Double(frame) / sampleRate
    let sum = [220.0, 440, 554.4, 660, 880, 1108.7, 1320, 1760, 2640].reduce(0) {
      $0 + realtime_sin(2 * .pi * $1 * t)
    }
    return Float(0.02 * sum)
  }
}

/// Four independent channels of noise with the levels of a diffuse field.
func diffuseNoise(frames: Int, level: Float) -> [[Float]] {
  var state: UInt64 = 5
  return (0..<4).map { channel in
    (0..<frames).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let value = Float(Int32(truncatingIfNeeded: state >> 32)) / Float(Int32.max)
      return value * level * (channel == 0 ? 1 : 0.577_35)
    }
  }
}

/// Encodes a signal as a plane wave from a horizontal direction, in degrees.
func planeWave(_ signal: [Float], azimuth: Double) -> [[Float]] {
  let angle = azimuth * .pi / 180
  return [1, Float(realtime_sin(angle)), 0, Float(realtime_sin(angle + .pi / 2))].map { gain in
    signal.map { $0 * gain }
  }
}

func sum(_ a: [[Float]], _ b: [[Float]]) -> [[Float]] {
  zip(a, b).map { zip($0, $1).map { $0 + $1 } }
}

/// The level of `a` relative to `b` in dB.
func relativeLevel(_ a: [[Float]], _ b: [[Float]]) -> Float {
  func power(_ x: [[Float]]) -> Float { x.reduce(1e-20) { $0 + $1.reduce(0) { $0 + $1 * $1 } } }
  return decibels(power(a) / power(b) + 1e-18)
}

func difference(_ a: [[Float]], _ b: [[Float]]) -> [[Float]] {
  zip(a, b).map { zip($0, $1).map { $0 - $1 } }
}

struct SeparatedSignals {
  var field = [[Float]](repeating: [], count: 4)
  var image = [[Float]](repeating: [], count: 4)
  var framedImage = [[Float]](repeating: [], count: 4)
  var studioImage = [[Float]](repeating: [], count: 4)

  /// The same signals without the first frames.
  func dropping(_ count: Int) -> SeparatedSignals {
    func less(_ x: [[Float]]) -> [[Float]] { x.map { Array($0.dropFirst(count)) } }
    return SeparatedSignals(
      field: less(field), image: less(image), framedImage: less(framedImage),
      studioImage: less(studioImage))
  }
}

/// Separates a complete signal, block by block.
func separate(
  _ input: [[Float]], with separator: inout SpatialSeparator, blockFrames: Int = 1000
) -> SeparatedSignals {
  let frames = input[0].count
  let block = SeparatedBlock(capacity: blockFrames)
  let planes = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: 4)
  for c in 0..<4 { (planes + c).initialize(to: .allocate(capacity: blockFrames)) }
  defer {
    for c in 0..<4 { planes[c].deallocate() }
    planes.deallocate()
  }
  var result = SeparatedSignals()
  var done = 0
  while done < frames {
    let count = min(blockFrames, frames - done)
    for c in 0..<4 {
      for i in 0..<count { (planes[c] + i).initialize(to: input[c][done + i]) }
    }
    separator.process(UnsafePointer(planes), frames: count, into: block)
    for c in 0..<4 {
      result.field[c] += UnsafeBufferPointer(start: block.field[c], count: count)
      result.image[c] += UnsafeBufferPointer(start: block.image[c], count: count)
      result.framedImage[c] += UnsafeBufferPointer(start: block.framedImage[c], count: count)
      result.studioImage[c] += UnsafeBufferPointer(start: block.studioImage[c], count: count)
    }
    done += count
  }
  return result
}
