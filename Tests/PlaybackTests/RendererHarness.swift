// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Geometry
import Glibc
import Playback
import TestSupport

/// Low, so that debug builds are fast. No property of the renderer depends on it.
let testRate = 16_000.0

/// A head that turns left at 1000 degrees per second while it nods and tilts.
func turningHead(_ gridPoint: Int) -> Quaternion {
  let seconds = Double(gridPoint * PoseGrid.cellFrames) / testRate
  return YawPitchRoll(yaw: 1000 * seconds, pitch: 20 * seconds, roll: -50 * seconds).quaternion
}

func stillHead(_ gridPoint: Int) -> Quaternion { .identity }

/// Renders a signal to both ears; the sizes of the calls are used in rotation.
///
/// - Parameter before: receives the frame at which the next call begins.
func render(
  _ signal: PlanarSignal, with renderer: Renderer, sizes: [Int] = [256],
  head: (Int) -> Quaternion = stillHead, before: (Int) -> Void = { _ in }
) -> [[Float]] {
  let ears = PlanarSignal(channelCount: 2, frames: signal.frames)
  var done = 0
  signal.forEachPiece(of: sizes) { input, count in
    before(done)
    let poses = renderer.gridPoints(forNext: count).map(head)
    renderer.process(
      input: input, frames: count, poses: poses, left: ears[0] + done, right: ears[1] + done)
    done += count
  }
  return ears.arrays
}

func ambiX(_ order: Int, headLocked: Bool = false) -> ChannelLayout {
  .ambisonics(order: order, convention: .ambiX, headLocked: headLocked)
}

let surround51: [Speaker] = [
  .frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight,
]

func noise(channels: Int, frames: Int, amplitude: Float = 0.5) -> PlanarSignal {
  PlanarSignal(channelCount: channels, frames: frames) { _, _ in
    Float.random(in: -amplitude...amplitude)
  }
}

/// Random filters that all differ.
func noiseFilters(order: Int, taps: Int = 24) -> BinauralFilters {
  let channels = SphericalHarmonics.channelCount(order: order)
  func ear() -> [[Float]] {
    (0..<channels).map { _ in (0..<taps).map { _ in Float.random(in: -0.2...0.2) } }
  }
  return BinauralFilters(order: order, sampleRate: testRate, left: ear(), right: ear())
}

/// A plane wave from a direction, with the first channel of the signal.
func planeWave(_ signal: PlanarSignal, order: Int, from direction: SIMD3<Double>) -> PlanarSignal {
  let gains = SphericalHarmonics.evaluate(order: order, direction)
  return PlanarSignal(channelCount: gains.count, frames: signal.frames) { channel, frame in
    Float(gains[channel]) * signal[0][frame]
  }
}

/// Returns the energy of the difference relative to that of the truth, in dB, over all channels.
func residualDecibels(_ a: [[Float]], _ truth: [[Float]]) -> Double {
  var (error, energy) = (0.0, 0.0)
  for (a, b) in zip(a.joined(), truth.joined()) {
    error += (Double(a) - Double(b)) * (Double(a) - Double(b))
    energy += Double(b) * Double(b)
  }
  return 10 * log10(error / energy)
}

func peak(_ samples: some Sequence<Float>) -> Float { samples.reduce(0) { max($0, abs($1)) } }

func largestStep(_ samples: [Float]) -> Float {
  zip(samples, samples.dropFirst()).reduce(0) { max($0, abs($1.1 - $1.0)) }
}
