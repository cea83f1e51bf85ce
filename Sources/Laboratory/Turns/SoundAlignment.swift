// SPDX-License-Identifier: Apache-2.0

/// A recording's alignment with a reference that repeats forever.
package struct SoundAlignment: Sendable, Equatable {
  /// The frame number in the reference minus the frame number in the recording.
  package var offset: Double
  /// Linear gain of the recording relative to the reference.
  var gain: Double
  /// Level of the part of the recording that the reference does not explain, relative to the
  /// recording, in dB.
  package var residualDecibels: Double

  /// Finds a stretch of a recording in a reference that repeats forever.
  ///
  /// - Parameters:
  ///   - frames: the stretch of the recording.
  ///   - expected: the offset to search near; nil searches the entire reference.
  ///   - radius: the number of frames searched on either side of `expected`.
  /// - Returns: nil if the stretch is empty or not inside the recording, or if the reference does
  ///   not correlate positively with the stretch at any searched offset.
  package static func find(
    _ recording: EarSound, _ frames: Range<Int>, in reference: EarSound,
    near expected: Double? = nil, radius: Int = 8
  ) -> SoundAlignment? {
    guard frames.lowerBound >= 0, frames.upperBound <= recording.frames, !frames.isEmpty else {
      return nil
    }
    let probe = recording.channels.map { Array($0[frames]) }
    let first = expected.map { Int($0.rounded()) - radius } ?? -frames.lowerBound
    let count = expected == nil ? reference.frames : 2 * radius + 1
    let scores = correlate(probe, reference, from: first + frames.lowerBound, count)
    guard let best = scores.indices.max(by: { scores[$0] < scores[$1] }), scores[best] > 0 else {
      return nil
    }
    let offset = Double(first + best) + vertex(scores, best)
    return fit(recording, frames, reference, offset)
  }

  /// Returns the alignment at an offset; nil if the recording or the reference is silent there.
  static func fit(
    _ recording: EarSound, _ frames: Range<Int>, _ reference: EarSound, _ offset: Double
  ) -> SoundAlignment? {
    let there = reference.stretch(
      from: Double(frames.lowerBound) + offset, count: frames.count)
    var (both, own, heard) = (0.0, 0.0, 0.0)
    for (channel, wanted) in zip(recording.channels, there.channels) {
      for i in frames.indices {
        let (x, y) = (Double(channel[i]), Double(wanted[i - frames.lowerBound]))
        both += x * y
        own += y * y
        heard += x * x
      }
    }
    guard own > 0, heard > 0 else { return nil }
    return SoundAlignment(
      offset: offset, gain: both / own,
      residualDecibels: decibels(heard - both * both / own, relativeTo: heard))
  }

  /// Returns the correlation of `probe` with the reference at each of `count` frames from `start`
  /// on, divided by the norm of the compared stretch of the reference.
  private static func correlate(
    _ probe: [[Float]], _ reference: EarSound, from start: Int, _ count: Int
  ) -> [Double] {
    let length = probe[0].count
    var products = [Float](repeating: 0, count: count)
    var energies = [Double](repeating: 0, count: count)
    for ear in 0..<2 {
      let samples = reference.stretch(from: Double(start), count: count + length).channels[ear]
      samples.withUnsafeBufferPointer { samples in
        probe[ear].withUnsafeBufferPointer { probe in
          for place in 0..<count {
            products[place] += dot(probe.baseAddress!, samples.baseAddress! + place, length)
          }
        }
      }
      var energy = samples[..<length].reduce(0.0) { $0 + Double($1 * $1) }
      for place in 0..<count {
        energies[place] += energy
        energy += Double(samples[place + length] * samples[place + length])
        energy -= Double(samples[place] * samples[place])
      }
    }
    return zip(products, energies).map { Double($0) / max($1, 1e-20).squareRoot() }
  }

  private static func dot(
    _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ count: Int
  ) -> Float {
    var sum = SIMD16<Float>()
    var i = 0
    while i + 16 <= count {
      let x = UnsafeRawPointer(a + i).loadUnaligned(as: SIMD16<Float>.self)
      let y = UnsafeRawPointer(b + i).loadUnaligned(as: SIMD16<Float>.self)
      sum += x * y
      i += 16
    }
    var rest: Float = 0
    while i < count {
      rest += a[i] * b[i]
      i += 1
    }
    return sum.sum() + rest
  }

  /// Returns the position of the vertex of the parabola through a maximum and its two neighbours,
  /// relative to the maximum, in frames, from -0.5 to 0.5. Returns 0 if the vertex is less than
  /// 0.02 frames away, if a neighbour is missing, or if the parabola does not open downwards.
  private static func vertex(_ scores: [Double], _ best: Int) -> Double {
    guard best > 0, best < scores.count - 1 else { return 0 }
    let (a, b, c) = (scores[best - 1], scores[best], scores[best + 1])
    let bend = a - 2 * b + c
    guard bend < 0 else { return 0 }
    let top = 0.5 * (a - c) / bend
    // Treat less than 0.02 frames as zero, so that nothing is resampled.
    return abs(top) < 0.02 ? 0 : max(-0.5, min(0.5, top))
  }
}
