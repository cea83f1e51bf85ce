// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Geometry
import Playback
import TestSupport
import Testing

@Suite struct RendererRotationTests {
  private func rotated(
    _ field: PlanarSignal, _ filters: BinauralFilters, sizes: [Int], block: Int
  ) -> [[Float]] {
    let renderer = Renderer(
      layout: ambiX(2), filters: filters, busOrder: 2, blockFrames: block)
    return render(field, with: renderer, sizes: sizes, head: turningHead)
  }

  @Test func rotationIsIndependentOfTheCallSize() {
    let (filters, field) = (noiseFilters(order: 2, taps: 300), noise(channels: 9, frames: 4500))
    let truth = rotated(field, filters, sizes: [64], block: 256)
    for sizes in [[1000], [4096], [333, 1, 1500]] {
      let ears = rotated(field, filters, sizes: sizes, block: 256)
      #expect(residualDecibels(ears, truth) < -120, "calls of \(sizes)")
    }
  }

  @Test func rotationIsIndependentOfTheExpectedBlockSize() {
    let (filters, field) = (noiseFilters(order: 2, taps: 300), noise(channels: 9, frames: 2500))
    let truth = rotated(field, filters, sizes: [256], block: 64)
    for block in [1, 256, 1024] {
      let ears = rotated(field, filters, sizes: [256], block: block)
      #expect(residualDecibels(ears, truth) < -120, "blocks of \(block)")
    }
  }

  /// A head rotated by y hears a source at azimuth a as a head at rest hears it at a - y.
  @Test(arguments: [1, 3, 5, 7])
  func headRotationEqualsInverseSourceRotation(order: Int) {
    var random = SeededGenerator.forTest()
    let (azimuth, yaw) = (
      Double.random(in: -180...180, using: &random), Double.random(in: -180...180, using: &random)
    )
    let (turn, place) = (randomTurn(using: &random), randomDirection(using: &random))
    let cases = [
      (
        YawPitchRoll(yaw: yaw).quaternion, Direction(azimuth: azimuth).unitVector,
        Direction(azimuth: azimuth - yaw).unitVector
      ),
      (turn, place, turn.conjugate.rotate(place)),
    ]
    let (filters, sound) = (noiseFilters(order: order), noise(channels: 1, frames: 200))
    for (pose, source, heard) in cases {
      let results = [(pose, source), (.identity, heard)].map { pose, direction in
        let renderer = Renderer(
          layout: ambiX(order), filters: filters, busOrder: 1, blockFrames: 32)
        let field = planeWave(sound, order: order, from: direction)
        return render(field, with: renderer) { _ in pose }
      }
      #expect(residualDecibels(results[0], results[1]) < -120)
    }
  }
}
