// SPDX-License-Identifier: Apache-2.0

import Glibc
import Media
import TestSupport

/// The signals at both ears.
struct EarRecording {
  let left: [Float]
  let right: [Float]
  let sampleRate: Int

  init(path: String) throws {
    let reader = try AudioFileReader(path: path)
    precondition(reader.channels == 2, "two ears wanted")
    sampleRate = reader.sampleRate
    let block = PlanarSignal(channelCount: 2, frames: 65_536)
    var (left, right): ([Float], [Float]) = ([], [])
    while true {
      let count = try reader.read(into: block.channels, frames: block.frames)
      if count == 0 { break }
      left += UnsafeBufferPointer(start: block[0], count: count)
      right += UnsafeBufferPointer(start: block[1], count: count)
    }
    (self.left, self.right) = (left, right)
  }

  var seconds: Double { Double(left.count) / Double(sampleRate) }

  var peakDecibels: Double {
    20 * log10(Double((left + right).reduce(Float(0)) { max($0, abs($1)) }))
  }

  /// Returns the level of the left ear relative to the right ear, in dB.
  func levelDifference(from start: Double, seconds: Double) -> Double {
    difference(left, right, start, seconds)
  }

  /// Returns the same for the second difference: the treble at the start of a struck bar.
  func trebleLevelDifference(from start: Double, seconds: Double) -> Double {
    func treble(_ samples: [Float]) -> [Float] {
      let first = Int(start * Double(sampleRate))
      return (first..<first + Int(seconds * Double(sampleRate))).map {
        samples[$0] - 2 * samples[$0 + 1] + samples[$0 + 2]
      }
    }
    return difference(treble(left), treble(right), 0, seconds)
  }

  private func difference(
    _ a: [Float], _ b: [Float], _ start: Double, _ seconds: Double
  ) -> Double {
    let first = Int(start * Double(sampleRate))
    let range = first..<first + Int(seconds * Double(sampleRate))
    func energy(_ samples: [Float]) -> Double {
      samples[range].reduce(0) { $0 + Double($1) * Double($1) }
    }
    return 10 * log10(energy(a) / energy(b))
  }

  /// The integrated loudness in LUFS (ITU-R BS.1770-4, annex 1), with the filters of its tables for
  /// 48 kHz.
  var loudness: Double {
    precondition(sampleRate == 48_000, "the filters are of 48 kHz")
    let step = sampleRate / 10
    let squares = [left, right].map { Self.stepEnergies(Self.weighted($0), step) }
    let steps = zip(squares[0], squares[1]).map { $0 + $1 }
    let blocks = (0..<max(0, steps.count - 3)).map { i in
      steps[i..<i + 4].reduce(0, +) / Double(4 * step)
    }
    func level(_ blocks: [Double]) -> Double {
      -0.691 + 10 * log10(blocks.reduce(0, +) / Double(max(1, blocks.count)))
    }
    let audible = blocks.filter { level([$0]) > -70 }
    let gate = level(audible) - 10
    return level(audible.filter { level([$0]) > gate })
  }

  private static func stepEnergies(_ samples: [Double], _ step: Int) -> [Double] {
    stride(from: 0, through: samples.count - step, by: step).map { start in
      samples[start..<start + step].reduce(0) { $0 + $1 * $1 }
    }
  }

  private static func weighted(_ samples: [Float]) -> [Double] {
    let shelf = biquad(
      samples.map(Double.init), [1.53512485958697, -2.69169618940638, 1.19839281085285],
      [-1.69065929318241, 0.73248077421585])
    return biquad(shelf, [1, -2, 1], [-1.99004745483398, 0.99007225036621])
  }

  private static func biquad(_ x: [Double], _ b: [Double], _ a: [Double]) -> [Double] {
    let (b0, b1, b2, a1, a2) = (b[0], b[1], b[2], a[0], a[1])
    var (s1, s2) = (0.0, 0.0)
    return x.map { x in
      let y = b0 * x + s1
      s1 = b1 * x - a1 * y + s2
      s2 = b2 * x - a2 * y
      return y
    }
  }
}
