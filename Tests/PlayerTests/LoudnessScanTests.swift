// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Glibc
import Loudness
import Synchronization
import TestSupport
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

/// The estimate of the loudness before the first sound, and the kept results.
@Suite struct LoudnessScanTests {
  private static let rate = 48_000
  private let folder = TemporaryFolder()

  private var filters: BinauralFilters {
    get throws {
      var settings = RenderSettings()
      settings.busOrder = 1
      return try HRTFChoice(set: RigidSphereHead().hrtfSet(sampleRate: 48_000)).filters(
        order: 1, settings: settings, sampleRate: 48_000)
    }
  }

  private var settings: RenderSettings {
    var settings = RenderSettings()
    (settings.busOrder, settings.loudness, settings.upmix) = (1, -16, .off)
    return settings
  }

  // MARK: The survey

  @Test(arguments: [1, 2, 3, 7, 20, 40, 64])
  func spreadOrderContainsEachNumberOnce(_ count: Int) {
    let order = LoudnessSurvey.spreadOrder(count)
    #expect(order.sorted() == Array(0..<count))
    // The first half has no two neighbours.
    let first = Set(order.prefix(count / 2))
    #expect(first.allSatisfy { !first.contains($0 + 1) })
  }

  @Test(arguments: [0.2, 2, 12, 59.9])
  func shortSourcesAreSurveyedCompletely(_ seconds: Double) {
    let length = Int(seconds * 48_000) + 7
    var next = 0
    for (start, count) in LoudnessSurvey.plan(length: length, rate: 48_000).sorted(by: <) {
      #expect(start == next)
      next += count
    }
    #expect(next == length)
  }

  @Test(arguments: [61, 1800])
  func excerptsAreInsideALongSource(_ seconds: Int) {
    let length = seconds * Self.rate
    let plan = LoudnessSurvey.plan(length: length, rate: Self.rate)
    #expect(plan.count == 40)
    #expect(plan.allSatisfy { $0.start >= 0 && $0.start + $0.count <= length })
    #expect(plan.reduce(0) { $0 + $1.count } == 60 * Self.rate)
  }

  // MARK: The estimate

  /// Returns noise whose first part is 20 dB quieter, with a level that changes every second.
  private func noise(seconds: Int, quiet: Int, level: Float) -> [[Float]] {
    var generator = SeededGenerator(3)
    var gain: Float = 0
    return (0..<2).map { _ in
      (0..<seconds * Self.rate).map { frame in
        if frame % Self.rate == 0 {
          gain = level * Float.random(in: 0.3...1, using: &generator)
          if frame < quiet * Self.rate { gain *= 0.1 }
        }
        return gain * Float.random(in: -1...1, using: &generator)
      }
    }
  }

  /// Waits for the estimate, and then for the complete measurement.
  private func results(
    _ source: any SoundSource
  ) throws -> (estimate: LoudnessMeasurement, whole: LoudnessMeasurement) {
    let scan = try #require(LoudnessScan(of: source, settings: settings))
    try scan.start(filters: filters)
    scan.wait(milliseconds: 30_000, extraMilliseconds: 0)
    let estimate = try #require(scan.current.measurement)
    for _ in 0..<3000 where !scan.current.isDone { usleep(20_000) }
    return (estimate, try #require(scan.current.measurement))
  }

  @Test(arguments: [(12, 4, 0.05), (30, 0, 0.5), (50, 20, 0.01)] as [(Int, Int, Float)])
  func estimateIsCloseToTheCompleteMeasurement(
    _ seconds: Int, _ quiet: Int, _ level: Float
  ) throws {
    let source = SignalSource(.stereo, noise(seconds: seconds, quiet: quiet, level: level))
    let (estimate, whole) = try results(source)
    #expect(abs(estimate.ears - whole.ears) < 1, "\(estimate) \(whole)")
    #expect(abs((estimate.truePeak ?? 99) - (whole.truePeak ?? 0)) < 1.5, "\(estimate) \(whole)")
  }

  @Test func longSourceIsEstimatedWithinThreeLoudnessUnits() throws {
    let source = SignalSource(.stereo, noise(seconds: 150, quiet: 50, level: 0.2))
    let (estimate, whole) = try results(source)
    #expect(abs(estimate.ears - whole.ears) < 1, "\(estimate) \(whole)")
  }

  @Test func soundfieldIsEstimatedWithoutAStatementAboutItsChannels() throws {
    let field = noise(seconds: 12, quiet: 3, level: 0.1)
    let source = SignalSource(
      .ambisonics(order: 1, convention: .ambiX, headLocked: false),
      [field[0], field[1], field[0], field[1]])
    let (estimate, whole) = try results(source)
    #expect(estimate.source == nil)
    #expect(abs(estimate.ears - whole.ears) < 1, "\(estimate) \(whole)")
  }

  @Test func silenceHasNoEstimate() throws {
    let source = SignalSource(.stereo, noise(seconds: 6, quiet: 0, level: 0))
    let scan = try #require(LoudnessScan(of: source, settings: settings))
    try scan.start(filters: filters)
    scan.wait(milliseconds: 30_000, extraMilliseconds: 0)
    #expect(scan.current.measurement == nil)
  }

  /// A file on a network that hangs, or a thread that a busy computer hardly runs, must not delay
  /// the end of the program.
  @Test func scanThatHangsIsNotWaitedFor() throws {
    let hang = Mutex((hasBegun: false, isOver: false))
    let source = MadeSource(sampleRate: Self.rate, seconds: 1) { () throws(PlaybackError) in
      hang.withLock { $0.hasBegun = true }
      _ = waitUntil(seconds: 20) { hang.withLock { $0.isOver } }
      return MadeSource(sampleRate: Self.rate, seconds: 1)
    }
    let scan = try #require(LoudnessScan(of: source, settings: settings))
    try scan.start(filters: filters)
    #expect(waitUntil(seconds: 20) { hang.withLock { $0.hasBegun } })
    let begin = ContinuousClock.now
    scan.stop()
    #expect(ContinuousClock.now - begin < .seconds(5))
    hang.withLock { $0.isOver = true }
  }

  // MARK: The cache

  private let measurement = LoudnessMeasurement(ears: -23.25, source: nil, truePeak: -1.5)

  private func key(_ identity: String) throws -> LoudnessCache.Key {
    try LoudnessCache.Key(identity, filters: filters, settings: settings)
  }

  @Test func measurementsAreKeptByFileAndFilters() throws {
    let cache = LoudnessCache(folder: folder.file("cache"))
    #expect(try cache.load(key("a")) == nil)
    try cache.store(measurement, key("a"))
    #expect(try cache.load(key("a")) == measurement)
    #expect(try cache.load(key("b")) == nil)
    var other = settings
    other.upmix = .on
    #expect(try cache.load(LoudnessCache.Key("a", filters: filters, settings: other)) == nil)
    var parts = try (filters.left, filters.right)
    parts.0[0][0] += 0.1
    let changed = BinauralFilters(order: 1, sampleRate: 48_000, left: parts.0, right: parts.1)
    #expect(cache.load(LoudnessCache.Key("a", filters: changed, settings: settings)) == nil)
  }

  @Test func damagedMeasurementIsIgnored() throws {
    let cache = LoudnessCache(folder: folder.path)
    let key = try key("a")
    cache.store(measurement, key)
    for text in ["", "-3.0 - -\n", "\(Float.nan) - -\nx\n", String(repeating: "9", count: 9999)] {
      try folder.write(text, to: key.name + ".loudness")
      #expect(cache.load(key) == nil)
    }
  }

  @Test func oldMeasurementsAreRemoved() throws {
    let cache = LoudnessCache(folder: folder.path, limit: 3)
    for number in 0..<6 {
      try cache.store(measurement, key("\(number)"))
      usleep(20_000)
    }
    #expect(
      try (0..<6).map { try cache.load(key("\($0)")) != nil }
        == [false, false, false, true, true, true])
  }

  /// A file's identity changes with its content, its time and the way it is read.
  @Test func identityOfAFileFollowsItsState() throws {
    let path = folder.file("a.wav")
    try folder.write(
      FloatWAV(rate: 48_000, channels: [[0.5, 0.5], [0.5, 0.5]]).bytes(), to: "a.wav")
    func identity(_ change: (inout RenderSettings) -> Void = { _ in }) throws -> String {
      var settings = RenderSettings()
      change(&settings)
      return try #require(FileSource(path: path, settings: settings).stableIdentity)
    }
    let first = try identity()
    #expect(try identity() == first)
    #expect(try identity { $0.layout = .binaural } != first)
    #expect(try identity { $0.dynamicRange = .off } != first)
    _ = try ProgramRun.of("touch", ["-d", "@1000000", path])
    #expect(try identity() != first)
  }
}
