// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Geometry
import Glibc
import SignalProcessing
import TestSupport
import Testing

@testable import Binaural

/// Compares loudspeakers rendered through responses of their own directions with the set.
@Suite struct DirectDecoderTests {
  private static let rate = 48000.0
  private static let bank = Result {
    try DirectDesign().bank(for: DecoderDesignTests.sphere)
  }

  private func play(
    _ x: [[Float]], from directions: [SIMD3<Double>], calls: [Int] = [256], partition: Int = 64,
    pose: (Int) -> Quaternion = { _ in .identity }
  ) throws -> [[Float]] {
    let decoder = BinauralDecoder(
      filters: BinauralFilters(direct: try Self.bank.get(), sampleRate: Self.rate),
      speakers: directions, partition: partition)
    let grid = PoseGrid(longestCall: x[0].count)
    let input = PlanarSignal(channelCount: x.count, frames: x[0].count) { x[$0][$1] }
    let ears = PlanarSignal(channelCount: 2, frames: x[0].count)
    var done = 0
    input.forEachPiece(of: calls) { input, count in
      let poses = grid.points(forNext: count).map(pose)
      decoder.process(
        input: input, frames: count, poses: grid.take(poses, forNext: count),
        left: ears[0] + done, right: ears[1] + done)
      done += count
    }
    return ears.arrays
  }

  private func impulse(_ frames: Int) -> [Float] {
    var x = [Float](repeating: 0, count: frames)
    x[0] = 1
    return x
  }

  private func decibels(_ a: [[Float]], against truth: [[Float]]) -> Double {
    var (error, energy) = (0.0, 0.0)
    for (a, b) in zip(a.joined(), truth.joined()) {
      error += Double(a - b) * Double(a - b)
      energy += Double(b) * Double(b)
    }
    return 10 * log10(error / energy + 1e-30)
  }

  private func turning(_ gridPoint: Int) -> Quaternion {
    let t = Double(gridPoint * PoseGrid.cellFrames) / Self.rate
    return YawPitchRoll(yaw: 1000 * t, pitch: 30 * t, roll: -200 * t).quaternion
  }

  @Test func everyDirectionMatchesTheSetInLevelAndDelay() throws {
    let set = DecoderDesignTests.sphere
    var (sum, count) = (0.0, 0)
    for d in stride(from: 0, to: set.directions.count, by: 61) {
      let ears = try play([impulse(1024)], from: [set.directions[d]])
      for ear in 0...1 {
        let truth = set.impulseResponse(direction: d, ear: ear).map(Double.init)
        let ours = DecoderDesignTests.bands(ears[ear].map(Double.init))
        for (a, b) in zip(ours, DecoderDesignTests.bands(truth)) {
          sum += abs(a - b)
          count += 1
        }
        let delay = DecoderDesignTests.groupDelay(ears[ear].map(Double.init))
        let expectedDelay = DecoderDesignTests.groupDelay(truth) + BinauralFilters.delaySeconds
        #expect(abs(delay - expectedDelay) < 8e-6)
      }
    }
    #expect(sum / Double(count) < 0.2)
  }

  @Test(arguments: [[1], [64], [500], [31, 33, 7]])
  func outputIsIndependentOfCallSizeAndPartition(calls: [Int]) throws {
    var random = SeededGenerator.forTest()
    let directions = (0..<3).map { _ in randomDirection(using: &random) }
    let x = directions.map { _ in (0..<900).map { _ in Float.random(in: -1...1, using: &random) } }
    let poses: [(Int) -> Quaternion] = [
      turning, { YawPitchRoll(yaw: 30 * Double($0 / 8)).quaternion },
    ]
    for pose in poses {
      let whole = try play(x, from: directions, calls: [900], pose: pose)
      #expect(
        decibels(try play(x, from: directions, calls: calls, pose: pose), against: whole) < -120)
      let large = try play(x, from: directions, calls: calls, partition: 256, pose: pose)
      #expect(decibels(large, against: whole) < -120)
    }
  }

  @Test func headTurnEqualsOppositeLoudspeakerTurn() throws {
    var random = SeededGenerator.forTest()
    let x = [(0..<2000).map { _ in Float.random(in: -1...1, using: &random) }]
    for _ in 0..<10 {
      let (v, q) = (randomDirection(using: &random), randomTurn(using: &random))
      let turned = try play(x, from: [v], pose: { _ in q })
      let moved = try play(x, from: [q.conjugate.rotate(v)])
      #expect(decibels(turned, against: moved) < -120)
    }
  }

  /// Plays a tone while the head turns: distant frequencies must have almost no energy.
  @Test(arguments: [
    (degreesPerSecond: 1000.0, near: -60.0, far: -85.0),
    (degreesPerSecond: 11250, near: -40, far: -50),
  ])
  func toneStaysNarrowbandWhileTheHeadTurns(
    degreesPerSecond: Double, near: Double, far: Double
  ) throws {
    let frames = 16384
    let tone = (0..<frames).map { Float(sin(2 * .pi * 1000 * Double($0) / Self.rate)) }
    let ears = try play([tone], from: [SIMD3(1, 0, 0)]) { point in
      YawPitchRoll(
        yaw: degreesPerSecond * Double(point * PoseGrid.cellFrames) / Self.rate
      ).quaternion
    }
    for ear in ears {
      let size = 8192
      let windowed = (0..<size).map { n -> Double in
        let t = 2 * Double.pi * (Double(n) + 0.5) / Double(size)
        let window =
          0.35875 - 0.48829 * cos(t) + 0.14128 * cos(2 * t) - 0.01168 * cos(3 * t)
        return Double(ear[n + 4096]) * window
      }
      let spectrum = DecoderDesignTests.magnitudes(windowed, size: size)
      func energy(_ isWanted: (Double) -> Bool) -> Double {
        spectrum.indices.reduce(0) {
          let away = abs(Double($1) * Self.rate / Double(size) - 1000)
          return $0 + (isWanted(away) ? spectrum[$1] * spectrum[$1] : 0)
        }
      }
      let all = energy { _ in true }
      #expect(10 * log10(energy { $0 > 300 } / all) < near)
      #expect(10 * log10(energy { $0 > 3000 } / all) < far)
    }
  }

  @Test func resetClearsAllState() throws {
    var random = SeededGenerator.forTest()
    let decoder = BinauralDecoder(
      filters: BinauralFilters(direct: try Self.bank.get(), sampleRate: Self.rate),
      speakers: [SIMD3(0, 1, 0)], partition: 64)
    func pass(_ signal: PlanarSignal) -> [[Float]] {
      let ears = PlanarSignal(channelCount: 2, frames: signal.frames)
      signal.forEachPiece(of: [signal.frames]) { input, count in
        let grid = PoseGrid(longestCall: count)
        let poses = grid.points(forNext: count).map(turning)
        decoder.process(
          input: input, frames: count, poses: grid.take(poses, forNext: count), left: ears[0],
          right: ears[1])
      }
      return ears.arrays
    }
    let noise = PlanarSignal(channelCount: 1, frames: 777) { _, _ in
      Float.random(in: -1...1, using: &random)
    }
    let first = pass(noise)
    decoder.reset()
    #expect(pass(noise) == first)
    decoder.reset()
    let silence = PlanarSignal(channelCount: 1, frames: 900) { _, _ in 0 }
    #expect(pass(silence).joined().allSatisfy { $0 == 0 })
  }

  /// Covers rates from the lowest playback rate up.
  @Test(arguments: [8000.0, 16000, 44100, 96000])
  func delayLineIsAccurateAtEveryRate(rate: Double) {
    let line = EarDelayLine(speakers: 1, sampleRate: rate)
    let seconds = 0.0002
    line.setArrival(seconds, speaker: 0, ear: 0)
    line.beginCell()
    let output = AlignedFloats(count: 16)
    let (hertz, frames) = (0.05 * rate, 640)
    for first in stride(from: 0, to: frames, by: 16) {
      let piece = AlignedFloats(count: 16)
      for i in 0..<16 {
        piece.pointer[i] = Float(sin(2 * .pi * hertz * Double(first + i) / rate))
      }
      line.write(piece.pointer, speaker: 0, frames: 16)
      line.read(output.pointer, speaker: 0, ear: 0, frames: 16, offset: 0)
      line.advance(by: 16)
      guard first > 300 else { continue }
      for i in 0..<16 {
        let t = Double(first + i) / rate - seconds - BinauralFilters.delaySeconds
        #expect(abs(Double(output.pointer[i]) - sin(2 * .pi * hertz * t)) < 2e-3)
      }
    }
  }

  @Test func filterBankIsLoadedFromTheCache() throws {
    let folder = TemporaryFolder()
    let cache = DesignCache(folder: folder.path)
    let set = RigidSphereHead().hrtfSet(sampleRate: 48000)
    let designed = try DirectDesign().filters(for: set, sampleRate: 48000, cache: cache)
    let loaded = try DirectDesign().filters(for: set, sampleRate: 48000, cache: cache) { true }
    #expect(designed.direct?.filters == loaded.direct?.filters)
    #expect(designed.direct?.gains == loaded.direct?.gains)
    #expect(throws: HRTFError.interrupted) {
      try DirectDesign(equalisation: .diffuse).filters(for: set, sampleRate: 48000, cache: cache) {
        true
      }
    }
  }

  @Test func threeComponentsReconstructRankThreeData() {
    var random = SeededGenerator.forTest()
    let basis = (0..<3).map { _ in (0..<40).map { _ in Double.random(in: -1...1, using: &random) } }
    let rows = (0..<60).map { _ in
      let shares = (0..<3).map { _ in Double.random(in: -1...1, using: &random) }
      return (0..<40).map { n in (0..<3).reduce(0.0) { $0 + shares[$1] * basis[$1][n] } }
    }
    let flat = rows.joined().map(Float.init)
    let components = PrincipalComponents(
      rows: flat, columns: 40, weights: .init(repeating: 1, count: 60), count: 3)
    let gains = components.gains(of: flat)
    for (r, row) in rows.enumerated() {
      for n in 0..<40 {
        let sum = (0..<3).reduce(0.0) {
          $0 + Double(gains[r * 3 + $1]) * components.vectors[$1][n]
        }
        #expect(abs(sum - row[n]) < 1e-5)
      }
    }
  }
}
