// SPDX-License-Identifier: Apache-2.0

import CRealtime
import CommandSupport
import Glibc
import Laboratory
import PulseAudio

/// A recording of what a sink plays, with the time of every frame.
final class TimedCapture {
  /// How frames are timed.
  enum Timing: String, Codable {
    /// By what the server says of the record stream.
    case reported
    /// By when they are handed over, for servers whose reports are wrong: those that are handed
    /// over at once are timed as if the middle of them were played then, which is right to half a
    /// cycle.
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
    do throws(PulseAudioError) {
      // Longer than the sink's own blocks, so that the recording does not hurry the sink.
      capture = try MonitorCapture(
        serverAddress: server, sinkName: sink, sourceName: source, sampleRate: sampleRate,
        fragmentMilliseconds: 100, receiver: audio.append)
    } catch { throw CommandFailure(error.description) }
  }

  var frames: Int { audio.frameCount }
  var failure: String? { capture.failure }

  /// Ends the recording.
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
      throw CommandFailure("the recording has no times; is the source running?")
    }
    return (EarSound(interleaved: audio.samples), timeline)
  }
}

/// What the server says of playing against what it says of recording: the same frames are followed
/// through a stream to the sink and back from the recording.
struct CaptureCheck: Codable {
  /// Median of recorded less announced time, ms: positive where a frame is found later in the
  /// recording than it was announced to be heard.
  var differenceMilliseconds: Double
  /// 95 in 100 differences are within this of the median, ms.
  var spreadMilliseconds: Double
  /// Of the record stream's reports about an even pace, rms, ms.
  var jitterMilliseconds: Double
  var timing: TimedCapture.Timing

  /// Plays three seconds of noise.
  init(
    server: String?, sink: String?, source: String?, sampleRate: Int,
    timing: TimedCapture.Timing, queueMilliseconds: Double, sleep: (Double) -> Bool
  ) throws(CommandFailure) {
    let feed = CheckFeed()
    let capture = try TimedCapture(
      server: server, sink: sink, source: source, sampleRate: sampleRate, timing: timing)
    var configuration = AudioOutputConfiguration()
    configuration.serverAddress = server
    configuration.sinkName = sink
    configuration.sampleRate = sampleRate
    configuration.latencyMilliseconds = queueMilliseconds
    do throws(PulseAudioError) {
      let output = try AudioOutput(configuration, render: feed.callback)
      try output.start()
      let isThrough = sleep(3)
      output.stop()
      if !isThrough { throw PulseAudioError.systemFailure(reason: "interrupted") }
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
        "what is played does not come back in the recording; "
          + "is it the right source, and loud enough?"
      )
    }
    let median = Distribution.percentile(50, of: differences)
    differenceMilliseconds = median
    spreadMilliseconds = Distribution.percentile(
      95, of: differences.map { abs($0 - median) }.sorted())
    jitterMilliseconds = timeline.jitterMilliseconds
    self.timing = timing
  }

  /// Where the frames of an announcement are found, less where they were announced, ms.
  private static func difference(
    _ announced: (position: Int, time: Int64), _ sound: EarSound, _ timeline: CaptureTimeline,
    _ sampleRate: Int
  ) -> Double? {
    let length = sampleRate / 50
    let guess = timeline.frame(at: Double(announced.time))
    let radius = sampleRate / 10
    guard guess - radius > 0, guess + radius + length < sound.frames else { return nil }
    // The frame of the recording at the guess holds this frame of the noise, about.
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

/// Feeds noise to an output and notes what was announced.
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

  /// For after the output was stopped; the first second is the start's.
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
