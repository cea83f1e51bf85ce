// SPDX-License-Identifier: Apache-2.0

import Playback

/// The samples of both ears.
struct StereoSound {
  let sampleRate: Int
  let left: [Float]
  let right: [Float]

  var frames: Int { left.count }

  init(interleaved samples: [Float], sampleRate: Int = 48000) {
    self.sampleRate = sampleRate
    left = stride(from: 0, to: samples.count, by: 2).map { samples[$0] }
    right = stride(from: 1, to: samples.count, by: 2).map { samples[$0] }
  }

  init(path: String) throws {
    let reader = try AudioFileReader(path: path)
    var samples: [Float] = []
    let planes = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: 2)
    let memory = UnsafeMutablePointer<Float>.allocate(capacity: 2048)
    (planes + 0).initialize(to: memory)
    (planes + 1).initialize(to: memory + 1024)
    defer {
      planes.deallocate()
      memory.deallocate()
    }
    while true {
      let count = try reader.read(into: planes, frames: 1024)
      if count == 0 { break }
      for i in 0..<count { samples += [planes[0][i], planes[1][i]] }
    }
    self.init(interleaved: samples, sampleRate: reader.sampleRate)
  }

  /// Returns the level of left relative to right in dB, over 100 ms around a time.
  func levelDifference(atSeconds seconds: Double) -> Double {
    let centre = Int(seconds * Double(sampleRate))
    let reach = sampleRate / 20
    let range = max(0, centre - reach)..<min(frames, centre + reach)
    return decibels(rms(left[range])) - decibels(rms(right[range]))
  }

  private func rms(_ samples: ArraySlice<Float>) -> Float {
    (samples.reduce(0) { $0 + $1 * $1 } / Float(max(1, samples.count))).squareRoot()
  }
}

/// Returns the level of the largest difference between two signals, in dB relative to full scale.
func residual(_ a: [Float], _ b: [Float]) -> Double {
  a.count == b.count ? decibels(zip(a, b).reduce(0) { max($0, abs($1.0 - $1.1)) }) : .infinity
}
