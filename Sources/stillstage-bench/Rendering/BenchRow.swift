// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Laboratory

/// One row of `bench render`.
struct BenchRow: Codable {
  var job: BenchJob
  /// CPU milliseconds per second of audio in the fastest repetition; the reference runs only once.
  var millisecondsPerSecond: Double
  /// Share of the cost that the arithmetic alone needs, as a fraction; nil for libspatialaudio.
  var shareOfLimit: Double?
  /// The operations counted in the render calls; nil if they were not counted.
  var operations: BenchOperations?

  var realTimeMultiple: Double { 1000 / millisecondsPerSecond }

  private enum Key: String, CodingKey {
    case millisecondsPerSecond, realTimeMultiple, shareOfLimit, operations
  }

  init(job: BenchJob, millisecondsPerSecond: Double, shareOfLimit: Double?) {
    self.job = job
    self.millisecondsPerSecond = millisecondsPerSecond
    self.shareOfLimit = shareOfLimit
  }

  init(from decoder: any Decoder) throws {
    job = try BenchJob(from: decoder)
    let values = try decoder.container(keyedBy: Key.self)
    millisecondsPerSecond = try values.decode(Double.self, forKey: .millisecondsPerSecond)
    shareOfLimit = try values.decodeIfPresent(Double.self, forKey: .shareOfLimit)
    operations = try values.decodeIfPresent(BenchOperations.self, forKey: .operations)
  }

  func encode(to encoder: any Encoder) throws {
    try job.encode(to: encoder)
    var values = encoder.container(keyedBy: Key.self)
    try values.encode(millisecondsPerSecond, forKey: .millisecondsPerSecond)
    try values.encode(realTimeMultiple, forKey: .realTimeMultiple)
    try values.encodeIfPresent(shareOfLimit, forKey: .shareOfLimit)
    try values.encodeIfPresent(operations, forKey: .operations)
  }
}

/// The work to be measured.
struct BenchJob: Codable, Hashable {
  enum Renderer: String, Codable {
    /// Rotation and decoding: `BinauralDecoder`.
    case decoder
    /// A complete render call: `Renderer`.
    case renderer
    /// The slow reference: `ReferenceDecoder`.
    case reference
    case bareLoop = "bare-loop"
    case libspatialaudio
  }

  enum Path: String, Codable {
    /// Two filters per channel.
    case full
    /// Ears that are mirror images: one filter per channel.
    case symmetric
  }

  var renderer: Renderer
  var path = Path.full
  /// "ambisonics", or the name of a loudspeaker layout such as "5.1".
  var source = "ambisonics"
  /// The order of the source, or of the bus for loudspeakers.
  var order: Int
  var blockFrames: Int
  var taps = 512
}

/// The number of render calls and, for each kind of operation, how often these calls performed it.
struct BenchOperations: Codable {
  var calls = 0
  var allocations = 0
  var frees = 0
  var locks = 0
  var retains = 0
  var releases = 0

  /// The operations of this process so far; nil in a program without counters.
  static var now: BenchOperations? {
    var totals = realtime_totals()
    guard realtime_totals_read(&totals) else { return nil }
    return BenchOperations(
      calls: Int(totals.sections), allocations: Int(totals.allocations),
      frees: Int(totals.frees), locks: Int(totals.locks), retains: Int(totals.retains),
      releases: Int(totals.releases))
  }

  static func - (a: BenchOperations, b: BenchOperations) -> BenchOperations {
    BenchOperations(
      calls: a.calls - b.calls, allocations: a.allocations - b.allocations,
      frees: a.frees - b.frees, locks: a.locks - b.locks, retains: a.retains - b.retains,
      releases: a.releases - b.releases)
  }
}

/// A ratio that has a limit.
struct BenchRatio: Codable {
  var name: String
  var value: Double
  var atMost: Double?
  var atLeast: Double?
  var isMet: Bool { value <= atMost ?? .infinity && value >= atLeast ?? 0 }

  private enum Key: String, CodingKey { case name, value, atMost, atLeast, isMet }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    try values.encode(name, forKey: .name)
    try values.encode(value, forKey: .value)
    try values.encodeIfPresent(atMost, forKey: .atMost)
    try values.encodeIfPresent(atLeast, forKey: .atLeast)
    try values.encode(isMet, forKey: .isMet)
  }
}

/// The output of `bench render --json`.
struct BenchReport: Codable {
  var machine: BenchMachine
  /// The instruction set of the kernels that ran.
  var instructionSet: String
  /// The peak rate of one core, in 1e9 operations (multiplications or additions) per second.
  var peakGigaFLOPS: Double
  /// The sample rate, in Hz.
  var sampleRate: Int
  var rows: [BenchRow]
  var ratios: [BenchRatio]
}
