// SPDX-License-Identifier: Apache-2.0

import CRealtime
import CommandSupport
import Glibc
import Laboratory
import PipeWire
import PulseAudio
import SoundServer

/// A recording of a sink's monitor or of another input, with the time of every frame.
final class TimedCapture {
  /// The way in which the times of the frames are determined.
  enum Timing: String, Codable {
    /// The times that the server reports for the record stream.
    case reported
    /// The arrival times of the fragments. A fragment's end counts as played when the fragment
    /// arrives.
    case arrival
  }

  let timing: Timing
  let sampleRate: Int
  private let audio = CapturedAudio()
  private let capture: MonitorCapture

  init(
    server: String?, sink: String?, source: String? = nil, sampleRate: Int, timing: Timing
  ) throws(CommandFailure) {
    self.timing = timing
    self.sampleRate = sampleRate
    do throws(SoundServerError) {
      // Use long fragments, so that the recording does not shorten the sink's own blocks.
      capture = try MonitorCapture(
        serverAddress: server, sinkName: sink, sourceName: source, sampleRate: sampleRate,
        fragmentMilliseconds: 100, receiver: audio.append)
    } catch { throw CommandFailure(error.description) }
  }

  var frames: Int { audio.frameCount }
  var failure: String? { capture.failure }

  /// Stops the recording and returns its sound and its timeline.
  func finish() throws(CommandFailure) -> (sound: EarSound, timeline: CaptureTimeline) {
    capture.stop()
    let reports = audio.fragments.compactMap { fragment -> CaptureTimeline.Report? in
      switch timing {
      case .reported: fragment.captureTimeNanoseconds.map { (fragment.firstFrame, $0) }
      case .arrival:
        (fragment.firstFrame + fragment.frameCount, fragment.arrivalTimeNanoseconds)
      }
    }
    guard let timeline = CaptureTimeline(reports, sampleRate: Double(sampleRate)) else {
      throw CommandFailure(
        "the recording has no timestamps; check that the recorded input is running")
    }
    return (EarSound(interleaved: audio.samples), timeline)
  }
}

/// A comparison of the playback times that an output announces for its frames with the times of the
/// same frames in a recording.
struct CaptureCheck: Codable {
  /// Median of the recorded time minus the announced time, in ms.
  var differenceMilliseconds: Double
  /// 95 percent of the differences are within this distance of the median, in ms.
  var spreadMilliseconds: Double
  /// Deviation of the fragments' times from the smoothed times, in ms rms.
  var jitterMilliseconds: Double
  var timing: TimedCapture.Timing

  /// Plays three seconds of noise and compares the times.
  ///
  /// - Parameters:
  ///   - source: the name of the input to record; nil for the sink's monitor.
  ///   - sleep: waits for a number of seconds; returns false if the user interrupts.
  init(
    _ setting: LatencySetting, on server: LatencyServer, source: String?, sampleRate: Int,
    sleep: (Double) -> Bool
  ) throws(CommandFailure) {
    let feed = CheckFeed()
    let timing = server.timing
    let capture = try TimedCapture(
      server: server.address, sink: server.sink, source: source, sampleRate: sampleRate,
      timing: timing)
    do throws(SoundServerError) {
      let output = try Self.output(setting, server, sampleRate, feed)
      try output.start()
      let isThrough = sleep(3)
      output.stop()
      if !isThrough { throw SoundServerError.systemFailure(reason: "interrupted") }
    } catch {
      if Signals.received != nil { throw .interrupted }
      throw CommandFailure(error.description)
    }
    let (sound, timeline) = try capture.finish()
    let differences = feed.announced.compactMap {
      Self.difference($0, sound, timeline, sampleRate)
    }.sorted()
    guard differences.count >= 5 else {
      throw CommandFailure(
        "cannot find the played sound in the recording; check the recorded input and its level")
    }
    let median = Distribution.percentile(50, of: differences)
    differenceMilliseconds = median
    spreadMilliseconds = Distribution.percentile(
      95, of: differences.map { abs($0 - median) }.sorted())
    jitterMilliseconds = timeline.jitterMilliseconds
    self.timing = timing
  }

  private static func output(
    _ setting: LatencySetting, _ server: LatencyServer, _ sampleRate: Int, _ feed: CheckFeed
  ) throws(SoundServerError) -> any AudioOutput {
    var configuration = AudioOutputConfiguration()
    configuration.sinkName = server.sink
    configuration.sampleRate = sampleRate
    if setting.isNative {
      configuration.serverAddress = server.socketPath
      configuration.latencyMilliseconds = setting.queueMilliseconds
      return try PipeWireOutput(configuration, render: feed.callback)
    }
    configuration.serverAddress = server.address
    configuration.latencyMilliseconds = setting.queueMilliseconds ?? 50
    return try PulseOutput(configuration, render: feed.callback)
  }

  /// Returns the recorded time of an announced frame minus its announced time, in ms; nil if the
  /// frame is not found.
  private static func difference(
    _ announced: (position: Int, time: Int64), _ sound: EarSound, _ timeline: CaptureTimeline,
    _ sampleRate: Int
  ) -> Double? {
    let length = sampleRate / 50
    let guess = timeline.frame(at: Double(announced.time))
    let radius = sampleRate / 10
    guard guess - radius > 0, guess + radius + length < sound.frames else { return nil }
    // Frame `guess` of the recording should contain the announced frame, so the frame numbers of
    // the noise and the recording differ by about `position - guess`.
    let expected = Double(announced.position - guess)
    guard
      let found = SoundAlignment.find(
        sound, guess..<guess + length, in: BenchNoise.mono, near: expected, radius: radius),
      found.residualDecibels < -6
    else { return nil }
    let frame = Double(announced.position) - found.offset
    return (timeline.time(ofFrame: frame) - Double(announced.time)) * 1e-6
  }
}

/// Feeds noise to an output and stores the announced playback times.
private final class CheckFeed: @unchecked Sendable {
  private static let room = 4096
  private let notes: UnsafeMutablePointer<(position: Int, time: Int64)>
  private let samples: UnsafeMutablePointer<Float>
  private var count = 0
  private var position = 0

  init() {
    notes = .allocate(capacity: Self.room)
    notes.initialize(repeating: (0, 0), count: Self.room)
    samples = .allocate(capacity: BenchNoise.periodFrames)
    samples.initialize(from: BenchNoise.mono.left, count: BenchNoise.periodFrames)
  }

  deinit {
    notes.deallocate()
    samples.deallocate()
  }

  /// The announcements after the first second, during which the output starts. Read this property
  /// only after the output has stopped.
  var announced: [(position: Int, time: Int64)] {
    (0..<count).map { notes[$0] }.filter { $0.time > notes[0].time + 1_000_000_000 }
  }

  var callback: AudioRenderCallback {
    AudioRenderCallback(owner: self) { context, samples, frames, time in
      Unmanaged<CheckFeed>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.fill(samples, frames, time)
      }
    }
  }

  private func fill(_ output: UnsafeMutablePointer<Float>, _ frames: Int, _ time: Int64) {
    if count < Self.room {
      notes[count] = (position, time)
      count += 1
    }
    for i in 0..<frames {
      let sample = samples[(position + i) & (BenchNoise.periodFrames - 1)]
      output[2 * i] = sample
      output[2 * i + 1] = sample
    }
    position += frames
  }
}
