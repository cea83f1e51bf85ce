// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
private import CRealtime
private import Glibc
internal import Loudness
internal import Rendering
internal import SignalProcessing
private import Synchronization
internal import System

/// Measures the loudness of a source's channels from excerpts, without rendering, on a separate
/// thread.
///
/// The excerpts cover a short source completely. They are read in an order in which the first few
/// are spread over the source, so that each intermediate result represents the entire source.
final class LoudnessSurvey: Sendable {
  struct Result {
    /// The loudness of the excerpts read so far, in LUFS; nil for silence and before the first
    /// excerpt. It is measured in the channels or, for a soundfield, with two virtual microphones
    /// in place of the ears.
    var loudness: Double?
    /// The largest magnitude of a sample in the signals from which `loudness` is measured.
    var peak: Float = 0
    /// The start frames of the excerpts read so far, in descending order of mean square.
    var loudest: [Int] = []
    /// Whether the survey has ended, possibly before all excerpts were read.
    var isDone = false
  }

  /// A source of up to this many seconds is read completely: a minute, and the frames that encoders
  /// add.
  private static let wholeSeconds = 60.5
  /// The number of excerpts of a longer source, and their length in seconds.
  private static let (excerpts, excerptSeconds) = (40, 1.5)
  /// The shortest excerpt into which a source that is read completely is divided, in seconds.
  private static let shortestSeconds = 0.5
  /// The time after which no further excerpt is read, in seconds.
  private static let limit = 3.0

  private let open: @Sendable () throws(PlaybackError) -> any SoundSource
  private let worker = Worker()
  private let state = Mutex(Result())

  /// Creates a survey. `open` opens the source again, without any preparation.
  init(open: @escaping @Sendable () throws(PlaybackError) -> any SoundSource) { self.open = open }

  deinit { worker.stop() }

  func start() {
    worker.start { [weak self] in self?.run() }
  }

  func stop() { worker.stop(withinMilliseconds: 50) }

  var result: Result { state.withLock { $0 } }

  private func run() {
    defer { state.withLock { $0.isDone = true } }
    guard let source = try? open(), let length = source.duration, length > 0 else { return }
    let end = monotonic_nanoseconds() + Int64(Self.limit * 1e9)
    let meter = ProxyMeter(source.layout, sampleRate: source.sampleRate)
    let planes = PlanarScratch(channels: source.layout.channelCount, frames: 4096)
    var levels: [(start: Int, energy: Float)] = []
    for (start, count) in Self.plan(length: length, rate: source.sampleRate) {
      guard !worker.isStopped, monotonic_nanoseconds() < end else { return }
      guard let energy = read(source, start, count, planes, meter) else { continue }
      levels.append((start, energy))
      levels.sort { $0.energy > $1.energy }
      state.withLock {
        ($0.loudness, $0.peak) = (meter.loudness, meter.peak)
        $0.loudest = levels.map(\.start)
      }
    }
  }

  /// Measures an excerpt and returns its mean square, summed over the channels; nil if nothing
  /// could be read.
  private func read(
    _ source: any SoundSource, _ start: Int, _ count: Int, _ planes: borrowing PlanarScratch,
    _ meter: ProxyMeter
  ) -> Float? {
    guard (try? source.seek(toFrame: start)) != nil else { return nil }
    let before = meter.energy
    var done = 0
    while done < count, !worker.isStopped {
      let part = min(4096, count - done)
      guard let got = try? source.read(into: planes.planes, frames: part), got > 0 else { break }
      meter.add(UnsafePointer(planes.planes), frames: got)
      done += got
    }
    return done > 0 ? Float((meter.energy - before) / Double(done)) : nil
  }

  /// Returns the excerpts of a source with `length` frames, in the order of reading.
  static func plan(length: Int, rate: Int) -> [(start: Int, count: Int)] {
    let seconds = Double(length) / Double(rate)
    let isWhole = seconds <= wholeSeconds
    let parts = isWhole ? max(1, min(20, Int(seconds / shortestSeconds))) : excerpts
    let most = isWhole ? Int.max : Int(excerptSeconds * Double(rate))
    return spreadOrder(parts).map { index in
      let (start, end) = (index * length / parts, (index + 1) * length / parts)
      let count = min(most, end - start)
      return (start + (end - start - count) / 2, count)
    }
  }

  /// Returns the numbers from 0 to `count` - 1 in bit-reversed order, in which the first few
  /// numbers are spread roughly evenly.
  static func spreadOrder(_ count: Int) -> [Int] {
    var bits = 0
    while 1 << bits < count { bits += 1 }
    return (0..<1 << bits).map { number in
      (0..<bits).reduce(0) { $0 | (number >> $1 & 1) << (bits - 1 - $1) }
    }.filter { $0 < count }
  }
}

/// Measures the loudness of a layout's channels or, for a soundfield, of the signals of two virtual
/// microphones in place of the ears. In an unknown layout, only the first channel is measured.
final class ProxyMeter {
  /// A channel of a soundfield, and its gains in the left and the right microphone.
  private struct Pickup {
    var channel: Int
    var gains: SIMD2<Float>
  }

  /// The gain of the left-right component, which the left microphone adds to the omnidirectional
  /// component and the right one subtracts from it. A sound from one side is 9.5 dB louder in the
  /// near microphone than in the far one. A head has about the same effect.
  private static let sideGain = 0.5

  private let meter: LoudnessMeter
  private let channels: Int
  private let pickups: [Pickup]
  private let mixed = PlanarScratch(channels: 2, frames: 4096)
  /// The sum of the squares of all measured samples.
  private(set) var energy = 0.0
  /// The largest magnitude of a measured sample.
  private(set) var peak: Float = 0

  init(_ layout: ChannelLayout, sampleRate: Int) {
    pickups = Self.pickups(layout)
    let field: [ChannelWeight] = pickups.isEmpty ? [.main] : [.main, .main]
    let weights = ChannelWeight.all(layout) ?? field
    channels = weights.count
    meter = LoudnessMeter(weights: weights, sampleRate: sampleRate)
  }

  /// Returns the channels that the microphones pick up; empty unless the layout is a soundfield.
  private static func pickups(_ layout: ChannelLayout) -> [Pickup] {
    guard case .ambisonics(let order, let convention, let headLocked) = layout else { return [] }
    let conversion = convention.conversion(order: order)
    let field = conversion.enumerated().compactMap { index, component -> Pickup? in
      let gain = Float(component.gain)
      switch component.channel {
      case 0: return Pickup(channel: index, gains: SIMD2(gain, gain))
      case 1: return Pickup(channel: index, gains: SIMD2(1, -1) * gain * Float(sideGain))
      default: return nil
      }
    }
    guard headLocked else { return field }
    let first = conversion.count
    return field + [
      Pickup(channel: first, gains: SIMD2(1, 0)), Pickup(channel: first + 1, gains: SIMD2(0, 1)),
    ]
  }

  /// Measures the next frames, at most 4096.
  func add(_ planes: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int) {
    guard !pickups.isEmpty else { return measure(planes, frames) }
    mix(planes, frames)
    measure(UnsafePointer(mixed.planes), frames)
  }

  private func mix(_ planes: UnsafePointer<UnsafeMutablePointer<Float>>, _ frames: Int) {
    for ear in 0..<2 {
      let output = mixed.planes[ear]
      for i in 0..<frames { output[i] = 0 }
      for pickup in pickups {
        let (input, gain) = (planes[pickup.channel], pickup.gains[ear])
        for i in 0..<frames { output[i] += gain * input[i] }
      }
    }
  }

  private func measure(_ planes: UnsafePointer<UnsafeMutablePointer<Float>>, _ frames: Int) {
    meter.add(planes, frames: frames)
    for channel in 0..<channels {
      var sum: Float = 0
      for i in 0..<frames {
        let value = planes[channel][i]
        sum += value * value
        peak = max(peak, abs(value))
      }
      if sum.isFinite { energy += Double(sum) }
    }
  }

  /// The gated loudness, in LUFS; nil if no 400 ms block has reached -70 LUFS.
  var loudness: Double? { meter.integrated }
}
