// SPDX-License-Identifier: Apache-2.0

import Playback
import TestSupport

/// Frames of the demo scene in 16 channels.
struct SceneRecording {
  let sampleRate: Int
  let signal: PlanarSignal

  /// Reads the scene in blocks; `sizes` are used in rotation.
  init(
    sampleRate: Int = 16_000, parts: Set<DemoScenePart> = Set(DemoScenePart.allCases),
    sizes: [Int] = [1024], fromFrame: Int = 0, frames: Int? = nil
  ) throws {
    let scene = DemoScene(sampleRate: sampleRate, parts: parts)
    try scene.seek(toFrame: fromFrame)
    try self.init(scene, sizes: sizes, frames: frames ?? (scene.duration ?? 0) - fromFrame)
  }

  init(_ scene: DemoScene, sizes: [Int] = [1024], frames: Int) throws {
    sampleRate = scene.sampleRate
    signal = PlanarSignal(channelCount: 16, frames: frames)
    let planes = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: 16)
    defer { planes.deallocate() }
    var done = 0
    var call = 0
    while done < frames {
      for c in 0..<16 { (planes + c).initialize(to: signal[c] + done) }
      let count = try scene.read(
        into: planes, frames: min(sizes[call % sizes.count], frames - done))
      if count == 0 { break }
      done += count
      call += 1
    }
    precondition(done == frames, "the scene ended at \(done) of \(frames) frames")
  }

  /// The largest magnitude in any channel.
  var peak: Float {
    var peak: Float = 0
    for c in 0..<16 {
      let samples = signal[c]
      for i in 0..<signal.frames { peak = max(peak, abs(samples[i])) }
    }
    return peak
  }

  var isFinite: Bool {
    (0..<16).allSatisfy { c in (0..<signal.frames).allSatisfy { signal[c][$0].isFinite } }
  }

  func isIdentical(to other: SceneRecording, offset: Int = 0) -> Bool {
    (0..<16).allSatisfy { c in
      (0..<other.signal.frames).allSatisfy {
        signal[c][$0 + offset].bitPattern == other.signal[c][$0].bitPattern
      }
    }
  }

  /// The mean square of the omnidirectional channel.
  var power: Double {
    var sum = 0.0
    for i in 0..<signal.frames { sum += Double(signal[0][i]) * Double(signal[0][i]) }
    return sum / Double(signal.frames)
  }

  /// The mean direction of the energy (x front, y left, z up): length 1 for a plane wave, 0 for a
  /// diffuse field.
  var intensity: SIMD3<Double> {
    var sum = SIMD3<Double>()
    for i in 0..<signal.frames {
      // The ACN channels are Y (1), Z (2) and X (3).
      let velocity = SIMD3(signal[3][i], signal[1][i], signal[2][i])
      sum += SIMD3<Double>(velocity * signal[0][i])
    }
    return sum / (Double(signal.frames) * power)
  }
}
