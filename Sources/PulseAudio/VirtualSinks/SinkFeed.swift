// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import SoundServer
import Synchronization

/// Supplies an output with a virtual sink's rendered sound.
///
/// Before each call of `render`, the output calls `read` for the frames that it needs. Missing
/// frames are silent.
///
/// ## Threading
/// Call `read` and `render` on the audio thread, and `restart` while that thread does neither. Any
/// thread may use `delayFrames` and `missingFrames`.
final class SinkFeed: @unchecked Sendable {
  /// The longest time for which `read` waits for frames [ns].
  private static let patience: Int64 = 2_000_000
  /// The time without a read after which unread sound is out of date [ns].
  private static let idleTime: Int64 = 200_000_000
  /// The real sink's latency that the first plan assumes [ms].
  private static let sinkLatency = 10.0
  /// The number of calls of `render` over which `latency` is averaged.
  private static let memory = 128.0
  /// The largest number of frames to read for one request. The rest of a larger request is silent.
  private static let capacity = 16_384

  /// The delay of the render callback [frames].
  let delayFrames: Atomic<Int>
  /// The number of frames that the server did not supply in time. Of consecutive incomplete reads,
  /// at most the first counts.
  let missingFrames = Atomic<Int>(0)
  private let source: any SinkSource
  private let render: LiveRenderCallback
  private let sampleRate: Int
  private let samples: UnsafeMutablePointer<Float>
  private var available = 0
  private var readTime: Int64 = 0
  private var isFilled = false
  /// The average time from reading a frame to hearing it, without `delayFrames` [ns].
  private var latency: Double
  private var weight = 0.0

  /// - Parameter latency: the output's requested latency [ms].
  init(
    source: any SinkSource, sampleRate: Int, latency: Double, delayFrames: Int,
    render: LiveRenderCallback
  ) {
    (self.source, self.sampleRate, self.render) = (source, sampleRate, render)
    self.latency = (latency + Self.sinkLatency) * 1e6
    self.delayFrames = Atomic(delayFrames)
    samples = .allocate(capacity: Self.capacity * source.channelCount)
    samples.initialize(repeating: 0, count: Self.capacity * source.channelCount)
    source.plan(delay: delay, resizing: .any)
  }

  deinit { samples.deallocate() }

  /// Drops outdated sound. Then waits up to 4 ms for 20 ms of unread sound.
  func restart() {
    source.plan(delay: delay, resizing: .larger)
    source.restart()
    let end = monotonic_nanoseconds() + 2 * Self.patience
    while source.unread < sampleRate / 50, monotonic_nanoseconds() < end { usleep(200) }
    isFilled = true
    readTime = monotonic_nanoseconds()
  }

  /// The time from reading a frame to hearing it [frames].
  private var delay: Int {
    Int(latency * Double(sampleRate) / 1e9) + delayFrames.load(ordering: .relaxed)
  }

  // MARK: The audio thread

  /// Reads the frames that the next call of `render` renders.
  func read(_ frameCount: Int) {
    let now = monotonic_nanoseconds()
    // Once the latency is an average over enough calls, adapt the plan to it.
    if weight == Self.memory { source.plan(delay: delay, resizing: .none) }
    if now - readTime > Self.idleTime {
      source.restart()
      isFilled = false
    }
    let wanted = min(frameCount, Self.capacity)
    available = source.read(samples, frameCount: wanted)
    // Wait briefly: frames that are late usually arrive soon.
    while available < wanted, isFilled, monotonic_nanoseconds() - now < Self.patience {
      usleep(250)
      available += source.read(
        samples + available * source.channelCount, frameCount: wanted - available)
    }
    if available == wanted { isFilled = true }
    if available < wanted {
      if isFilled { missingFrames.add(wanted - available, ordering: .relaxed) }
      (samples + available * source.channelCount).update(
        repeating: 0, count: (wanted - available) * source.channelCount)
      isFilled = false
    }
    readTime = monotonic_nanoseconds()
  }

  /// Renders the frames that `read` has read, and writes the result to `output` [frames x 2]. The
  /// first frame is heard at `time`, in CLOCK_MONOTONIC nanoseconds.
  func render(_ output: UnsafeMutablePointer<Float>, _ frameCount: Int, _ time: Int64) {
    let known = min(frameCount, Self.capacity)
    render.function(
      render.context, available > 0 ? UnsafePointer(samples) : nil, output, known, time)
    if known < frameCount {
      let later = time + Int64(known) * 1_000_000_000 / Int64(sampleRate)
      render.function(render.context, nil, output + 2 * known, frameCount - known, later)
    }
    // The frames of a block are, on average, heard half a block later than its first frame.
    learn(Double(time - readTime) + Double(frameCount) * 0.5e9 / Double(sampleRate))
  }

  /// Updates the average latency [ns]. Ignores implausible values.
  private func learn(_ latency: Double) {
    guard latency > 0, latency < 3e9 else { return }
    weight = min(weight + 1, Self.memory)
    self.latency += (latency - self.latency) / weight
  }
}

/// How the capacity of a pipe may change.
enum Resizing {
  case none, larger, any
}

/// A supplier of the sound that programs play to a virtual sink.
protocol SinkSource: AnyObject {
  var channelCount: Int { get }
  var unread: Int { get }

  /// Reads up to `frameCount` frames. Returns the number of frames read.
  func read(_ samples: UnsafeMutablePointer<Float>, frameCount: Int) -> Int

  /// Drops outdated sound.
  func restart()

  /// Adapts to a new delay.
  ///
  /// - Parameters:
  ///   - delay: the time from reading a frame to hearing it [frames].
  ///   - resizing: how the capacity may change. A smaller capacity drops sound.
  func plan(delay: Int, resizing: Resizing)
}

/// Supplies a virtual sink's sound from a module-pipe-sink on this machine.
final class PipeSource: SinkSource {
  /// The smallest change of the delay that leads to a new plan if the capacity must not change [s].
  private static let hysteresis = 0.004

  let pipe: SinkPipe
  private let sampleRate: Int
  private var planned: Int?

  init(pipe: SinkPipe, sampleRate: Int) { (self.pipe, self.sampleRate) = (pipe, sampleRate) }

  var channelCount: Int { pipe.channelCount }
  var unread: Int { pipe.unread }

  func read(_ samples: UnsafeMutablePointer<Float>, frameCount: Int) -> Int {
    pipe.read(samples, frameCount: frameCount)
  }

  func restart() { pipe.trim() }

  func plan(delay: Int, resizing: Resizing) {
    let isClose =
      planned.map { abs($0 - delay) < Int(Self.hysteresis * Double(sampleRate)) } ?? false
    guard resizing != .none || !isClose else { return }
    planned = delay
    func plan(_ pageCount: Int?) -> PipePlan {
      PipePlan(
        channelCount: pipe.channelCount, sampleRate: sampleRate, delay: delay,
        pageCount: pageCount)
    }
    var best = plan(resizing == .none ? pipe.pageCount : nil)
    if best.pageCount < pipe.pageCount {
      if resizing == .any { pipe.empty() } else { best = plan(pipe.pageCount) }
    }
    pipe.apply(best)
  }
}
