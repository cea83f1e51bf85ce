// SPDX-License-Identifier: Apache-2.0

import Glibc
import SignalProcessing
import TestSupport
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

/// A source of given runs, each with its layout and its overlap with the previous run.
private final class RunsSource: SoundSource {
  let runs: [(layout: ChannelLayout, joint: Int, sound: [[Float]])]
  let sampleRate = 48000
  let duration: Int? = nil
  let title: String? = nil
  let warnings: [String] = []
  /// Whether reading fails after the last run.
  var fails = false
  private var run = -1
  private var place = 0
  private(set) var joint = 0
  let longestOverlap: Int

  init(_ runs: [(layout: ChannelLayout, joint: Int, sound: [[Float]])], longestOverlap: Int) {
    self.runs = runs
    self.longestOverlap = longestOverlap
  }

  var layout: ChannelLayout { runs[0].layout }
  var changesLayout: Bool { true }
  var expectedLayouts: [ChannelLayout] { runs.map(\.layout) }

  func nextLayout() throws(PlaybackError) -> ChannelLayout? {
    guard run + 1 < runs.count else {
      if fails { throw .stream("gone") }
      return nil
    }
    run += 1
    place = 0
    joint = runs[run].joint
    return runs[run].layout
  }

  func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    let sound = runs[run].sound
    let count = min(frames, sound[0].count - place)
    for (c, plane) in sound.enumerated() {
      for i in 0..<count { planes[c][i] = plane[place + i] }
    }
    place += count
    return count
  }

  func seek(toFrame frame: Int) throws(PlaybackError) {}
}

@Suite struct RunJoinTests {
  private func tone(_ hertz: Double, _ range: Range<Int>, gain: Double = 0.3) -> [Float] {
    range.map { Float(gain * sin(2 * .pi * hertz * Double($0) / 48000)) }
  }

  private func noise(_ count: Int, seed: UInt64) -> [Float] {
    var state = seed
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Float(Int32(truncatingIfNeeded: state >> 32)) / Float(Int32.max) * 0.3
    }
  }

  private func joined(
    _ runs: [(layout: ChannelLayout, joint: Int, sound: [[Float]])], overlap: Int, block: Int = 1000
  ) throws -> [[Float]] {
    let source = try ConstantBusSource(RunsSource(runs, longestOverlap: overlap))
    var result = [[Float]](repeating: [], count: source.layout.channelCount)
    let scratch = PlanarScratch(channels: source.layout.channelCount, frames: block)
    while true {
      let count = try source.read(into: scratch.planes, frames: block)
      if count == 0 { return result }
      for c in result.indices {
        result[c] += UnsafeBufferPointer(start: scratch.planes[c], count: count)
      }
    }
  }

  /// Returns the energy of the difference relative to that of the wanted sound, in dB.
  private func error(_ sound: [Float], _ wanted: [Float]) -> Double {
    var (difference, energy) = (1e-20, 1e-20)
    for (x, y) in zip(sound, wanted) {
      difference += Double((x - y) * (x - y))
      energy += Double(y * y)
    }
    return 10 * log10(difference / energy)
  }

  @Test(arguments: [1, 333, 7200, 20000])
  func identicalOverlapLeavesTheSoundUnchanged(_ overlap: Int) throws {
    let whole = tone(997, 0..<96000)
    let runs: [(ChannelLayout, Int, [[Float]])] = [
      (.mono, 0, [Array(whole[..<48000])]),
      (.mono, overlap, [Array(whole[(48000 - overlap)...])]),
    ]
    for block in [64, 1000, 4096] {
      let sound = try joined(runs, overlap: 7200, block: block)
      #expect(sound[0].count == 96000)
      #expect(error(sound[0], whole) < -100)
    }
  }

  /// A run that ends within the overlap: the next run continues where it ended.
  @Test(arguments: [0, 100, 4000]) func soundGoesOnWhereARunShorterThanTheOverlapEnds(
    _ length: Int
  ) throws {
    let whole = zip(tone(500, 0..<96000), tone(1300, 0..<96000)).map { $0 + $1 }
    let end = 43200 + length
    let sound = try joined(
      [
        (.mono, 0, [Array(whole[..<48000])]), (.mono, 4800, [Array(whole[43200..<end])]),
        (.mono, 0, [Array(whole[end...])]),
      ], overlap: 7200)
    #expect(sound[0].count == 96000)
    let place = 42000..<60000
    #expect(error(Array(sound[0][place]), Array(whole[place])) < -50)
  }

  @Test func crossfadeOfUncorrelatedSoundsKeepsThePower() throws {
    let overlap = 7200
    let sound = try joined(
      [
        (.mono, 0, [noise(48000, seed: 1)]), (.mono, overlap, [noise(48000, seed: 2)]),
      ], overlap: overlap)
    #expect(sound[0].count == 96000 - overlap)
    func level(_ range: Range<Int>) -> Double {
      10 * log10(range.reduce(0) { $0 + Double(sound[0][$1] * sound[0][$1]) } / Double(range.count))
    }
    let before = level(10000..<30000)
    for start in stride(from: 48000 - overlap, to: 48000, by: 1200) {
      #expect(abs(level(start..<start + 1200) - before) < 0.6)
    }
  }

  @Test(arguments: [0, 100, 768]) func shortGapInATonePairIsBridged(_ gap: Int) throws {
    let whole = zip(tone(500, 0..<96000), tone(1300, 0..<96000)).map { $0 + $1 }
    let sound = try joined(
      [
        (.mono, 0, [Array(whole[..<48000])]), (.mono, -gap, [Array(whole[(48000 + gap)...])]),
      ], overlap: 7200)
    #expect(sound[0].count == 96000)
    let place = 47000..<51000
    #expect(error(Array(sound[0][place]), Array(whole[place])) < -50)
  }

  /// A join of tones with the same tones at other phases: beyond 50 Hz from the tones, the spurious
  /// energy stays 50 dB below them.
  @Test(arguments: [60.0, 440, 2300]) func joinOfTonesAddsNoDistantSpectralEnergy(
    _ hertz: Double
  ) throws {
    for phase in [100, 7000, 12345] {
      let tones = { (range: Range<Int>) -> [Float] in
        zip(self.tone(hertz, range), self.tone(1.7 * hertz, range, gain: 0.2)).map { $0 + $1 }
      }
      let sound = try joined(
        [(.mono, 0, [tones(0..<48000)]), (.mono, 0, [tones((48000 + phase)..<(96000 + phase))])],
        overlap: 7200)
      for start in stride(from: 48000 - 9600, through: 48000 + 4800, by: 480) {
        let piece = sound[0][start..<start + 9600].map(Double.init)
        let spurious = spurious(in: piece, beside: [hertz, 1.7 * hertz])
        #expect(spurious < -50, "\(start)")
      }
    }
  }

  /// Returns the energy beyond 50 Hz from the tones relative to theirs, in dB, under a Hann window
  /// of 0.2 s.
  private func spurious(in sound: [Double], beside tones: [Double]) -> Double {
    let count = sound.count
    let windowed = sound.enumerated().map { i, x in
      x * (0.5 - 0.5 * cos(2 * .pi * (Double(i) + 0.5) / Double(count)))
    }
    // Sum the energy of the bins around the tones, 5 Hz apart. All other energy is spurious.
    var bins = Set<Int>()
    for hertz in tones {
      let bin = Int((hertz / 5).rounded())
      bins.formUnion(max(1, bin - 10)...(bin + 10))
    }
    var near = 0.0
    for bin in bins {
      var (re, im) = (0.0, 0.0)
      for (i, x) in windowed.enumerated() {
        let turn = 2 * .pi * Double(bin * i % count) / Double(count)
        re += x * cos(turn)
        im += x * sin(turn)
      }
      near += 2 * (re * re + im * im) / Double(count)
    }
    let all = windowed.reduce(0) { $0 + $1 * $1 }
    return 10 * log10(max(1e-12, all - near) / near)
  }

  @Test func longGapIsSilentBetweenFadesAndKeepsItsLength() throws {
    let whole = tone(1000, 0..<96000)
    let gap = 20000
    let sound = try joined(
      [
        (.mono, 0, [Array(whole[..<48000])]), (.mono, -gap, [Array(whole[(48000 + gap)...])]),
      ], overlap: 7200)
    #expect(sound[0].count == 96000)
    #expect(sound[0][49000..<67900].allSatisfy { $0 == 0 })
    #expect(error(Array(sound[0][69000...]), Array(whole[69000...])) < -100)
    // No step is larger than those of the tone itself.
    let steps = zip(sound[0], sound[0].dropFirst()).map { abs($0 - $1) }
    #expect(try #require(steps.max()) < 0.3 * Float(2 * Double.pi * 1000 / 48000) * 1.05)
  }

  @Test func soundBeforeAReadFailureIsRenderedAndFadesOut() throws {
    let source = RunsSource([(.mono, 0, [tone(997, 0..<48000)])], longestOverlap: 7200)
    source.fails = true
    let bus = try ConstantBusSource(source)
    let scratch = PlanarScratch(channels: 1, frames: 1000)
    var sound: [Float] = []
    var error: PlaybackError?
    while error == nil {
      do throws(PlaybackError) {
        let count = try bus.read(into: scratch.planes, frames: 1000)
        sound += UnsafeBufferPointer(start: scratch.planes[0], count: count)
      } catch let problem { error = problem }
    }
    #expect(error.map { "\($0)" } == "gone")
    #expect(self.error(Array(sound[..<48000]), tone(997, 0..<48000)) < -100)
    #expect((48900...50000).contains(sound.count) && abs(sound.last ?? 1) < 1e-6)
    let steps = zip(sound, sound.dropFirst()).map { abs($0 - $1) }
    #expect(try #require(steps.max()) < 0.3 * Float(2 * Double.pi * 997 / 48000) * 1.05)
  }

  @Test func stereoJoinsSurroundInTheSameChannels() throws {
    let left = tone(500, 0..<96000)
    let right = tone(700, 0..<96000)
    let overlap = 4800
    let silent = [Float](repeating: 0, count: 48000 + overlap)
    let part = (48000 - overlap)..<96000
    let surround = [Array(left[part]), Array(right[part]), silent, silent, silent, silent]
    let sound = try joined(
      [
        (.stereo, 0, [Array(left[..<48000]), Array(right[..<48000])]),
        (
          .speakers([
            .frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight,
          ]), overlap, surround
        ),
      ], overlap: 7200)
    #expect(sound.count == 6)
    #expect(error(sound[0], left) < -100 && error(sound[1], right) < -100)
    #expect(sound[2...].allSatisfy { $0.allSatisfy { $0 == 0 } })
  }
}

@Suite struct SignalExtensionTests {
  /// Whatever the past, the extension is finite, not louder than the past, and does not grow.
  @Test func extensionIsBoundedAndDoesNotGrow() {
    var random = SeededGenerator(7)
    for round in 0..<200 {
      let burst = Int.random(in: 0..<1024, using: &random)
      let hertz = Float.random(in: 50...5000, using: &random)
      let past = (0..<1024).map { i -> Float in
        let noise = Float.random(in: -0.3...0.3, using: &random) * (i >= burst ? 1 : 0.01)
        return noise + (round % 2 == 0 ? 0.2 * sinf(2 * .pi * hertz * Float(i) / 48000) : 0)
      }
      let next = SignalExtension.after(past, frames: 1920)
      let limit = past.map(abs).max() ?? 0
      #expect(next.count == 1920 && next.allSatisfy { abs($0) <= limit })
      func energy(_ sound: ArraySlice<Float>) -> Float { sound.reduce(0) { $0 + $1 * $1 } }
      // Noise decays and tones continue.
      #expect(energy(next[960...]) <= 1.6 * energy(past[64...]))
    }
  }

  @Test(arguments: [100.0, 997, 3000, 9000]) func extensionContinuesATone(_ hertz: Double) {
    let whole = tone(hertz, 0..<2500)
    let next = SignalExtension.after(Array(whole[..<1024]), frames: 1476)
    for i in next.indices { #expect(abs(next[i] - whole[1024 + i]) < 0.003) }
  }

  private func tone(_ hertz: Double, _ range: Range<Int>) -> [Float] {
    range.map { Float(0.3 * sin(2 * .pi * hertz * Double($0) / 48000)) }
  }
}

@Suite struct RenditionAlignmentTests {
  private func programme(_ count: Int, seed: UInt64) -> [Float] {
    var state = seed
    var low: Float = 0
    return (0..<count).map { i in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      low += 0.05 * (Float(Int32(truncatingIfNeeded: state >> 32)) / Float(Int32.max) - low)
      // Bursts of noise over steady tones.
      let burst: Float = i / 9600 % 3 == 0 ? 1 : 0.05
      let t = Float(i) / 48000
      return burst * low + 0.2 * sinf(2 * .pi * 500 * t) + 0.2 * sinf(2 * .pi * 700 * t)
    }
  }

  @Test(arguments: [-2400, -768, -1, 0, 5, 768, 2399]) func alignmentIsFrameExact(
    _ shift: Int
  ) throws {
    for seed in UInt64(1)...5 {
      let whole = programme(60000, seed: seed)
      var other = Array(whole[(5000 + shift)..<(53000 + shift)])
      let own = programme(48000, seed: seed + 100)
      // Add codec noise, and change the level.
      for i in other.indices { other[i] = 0.5 * other[i] + 0.002 * own[i] }
      let found = try #require(
        RenditionAlignment(of: other, to: Array(whole[5000..<53000]), within: 2400))
      #expect(found.shift == shift)
      #expect(found.agreement > 0.9)
    }
  }

  @Test func unrelatedSoundsAreNotAligned() {
    var random = SeededGenerator.forTest()
    let noise = { (0..<48000).map { _ in Float.random(in: -1...1, using: &random) } }
    #expect(RenditionAlignment(of: noise(), to: noise(), within: 2400) == nil)
    let silence = [Float](repeating: 0, count: 48000)
    #expect(RenditionAlignment(of: silence, to: silence, within: 2400) == nil)
    #expect(RenditionAlignment(of: silence, to: noise(), within: 2400) == nil)
    #expect(RenditionAlignment(of: [0.1], to: [0.1], within: 2400) == nil)
  }
}

@Suite struct SegmentClockTests {
  @Test func renditionsShareAClock() {
    var clock = SegmentClock()
    #expect(clock.position(of: 1.4, cycle: nil, discontinuity: 0, expected: 0) == 0)
    #expect(
      abs(clock.position(of: 9.08, cycle: nil, discontinuity: 0, expected: 7.6) - 7.68) < 1e-9)
    // A completely different clock is ignored.
    #expect(clock.position(of: 500, cycle: nil, discontinuity: 0, expected: 11.5) == 11.5)
    #expect(clock.position(of: nil, cycle: nil, discontinuity: 0, expected: 12) == 12)
    // After a discontinuity, times start again.
    #expect(clock.position(of: 0, cycle: nil, discontinuity: 1, expected: 20) == 20)
  }

  @Test func positionContinuesAcrossTimestampWrap() {
    var clock = SegmentClock()
    let cycle = Double(1 << 33) / 90_000
    let start = cycle - 5
    #expect(clock.position(of: start, cycle: cycle, discontinuity: 0, expected: 0) == 0)
    let later = clock.position(of: 3, cycle: cycle, discontinuity: 0, expected: 8)
    #expect(abs(later - 8) < 1e-6)
  }
}
