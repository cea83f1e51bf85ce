// SPDX-License-Identifier: Apache-2.0

import PulseAudio
import SoundServer
import Synchronization
import TestSupport
import Testing

@testable import Laboratory

extension ServerTests {
  @Suite(.serialized) struct PlaybackTests {
    @Test func sineArrivesUnchanged() throws {
      try PrivatePulseServer.withServer { server in
        let (audio, capture) = try capture(server.address)
        let playing = try Playing(configuration(server.address))
        defer { playing.output.stop() }
        sleepMilliseconds(1500)
        capture.stop()
        let recording = Recording(audio)
        let residual = residualDecibels(
          recording.left, frequency: CountingSource.frequency, sampleRate: 48_000)
        print("sine: \(recording.heard.count) frames, residual \(residual) dB")
        #expect(recording.heard.first == 0)
        #expect(recording.heard.count > 48_000)
        #expect(recording.gaps == 0)
        #expect(recording.jumps.isEmpty)
        #expect(residual < -100)
        #expect(playing.source.decreases.load(ordering: .relaxed) == 0)
      }
    }

    /// Tries up to three times: around an underrun, which a busy machine can cause, reports are off
    /// by many milliseconds.
    @Test(arguments: [20.0, 50, 100, 200])
    func measuredLatencyIsWithinTheRequest(requested: Double) throws {
      try PrivatePulseServer.withServer { server in
        var attempt = try LatencyAttempt(server, requested: requested)
        for _ in 0..<2 where !attempt.isPlausible {
          recordRetry("\(attempt)")
          attempt = try LatencyAttempt(server, requested: requested)
        }
        #expect(attempt.isPlausible, "\(attempt)")
        let status = attempt.status
        #expect(status.queueMilliseconds > 0)
        #expect(status.queueMilliseconds + status.sinkLatencyMilliseconds <= requested + 1)
      }
    }

    @Test func otherRateIsResampledByTheServer() throws {
      try PrivatePulseServer.withServer { server in
        let (audio, capture) = try capture(server.address)
        let playing = try Playing(configuration(server.address, rate: 44_100))
        defer { playing.output.stop() }
        sleepMilliseconds(1000)
        capture.stop()
        #expect(playing.output.status.sampleRate == 44_100)
        #expect(playing.output.status.sinkSampleRate == 48_000)
        let sound = Recording(audio).left.dropFirst(9600).prefix(24_000)
        let residual = residualDecibels(
          Array(sound), frequency: CountingSource.frequency, sampleRate: 48_000)
        print("44100 Hz on a 48000 Hz sink: residual \(residual) dB")
        #expect(residual < -40)
      }
    }

    @Test func pauseLosesNoFrames() throws {
      try PrivatePulseServer.withServer { server in
        let (audio, capture) = try capture(server.address)
        let playing = try Playing(configuration(server.address))
        defer { playing.output.stop() }
        for _ in 0..<3 {
          sleepMilliseconds(300)
          playing.output.pause()
          #expect(playing.output.status.state == .paused)
          sleepMilliseconds(200)
          let written = playing.output.status.framesWritten
          sleepMilliseconds(150)
          #expect(playing.output.status.framesWritten == written)
          playing.output.resume()
        }
        sleepMilliseconds(300)
        capture.stop()
        let recording = Recording(audio)
        #expect(recording.jumps.isEmpty, "\(recording.jumps)")
        #expect(recording.gaps == 3)
        #expect(playing.output.status.state == .playing)
        #expect(playing.output.status.underruns == 0)
        #expect(playing.source.decreases.load(ordering: .relaxed) == 0)
      }
    }

    @Test func outputCanStartPaused() throws {
      try PrivatePulseServer.withServer { server in
        let (audio, capture) = try capture(server.address)
        var asked = configuration(server.address)
        asked.startsPaused = true
        let playing = try Playing(asked)
        defer { playing.output.stop() }
        sleepMilliseconds(300)
        #expect(playing.output.status.state == .paused)
        #expect(Recording(audio).heard.isEmpty)
        playing.output.resume()
        sleepMilliseconds(400)
        capture.stop()
        let recording = Recording(audio)
        #expect(recording.heard.first == 0)
        #expect(recording.jumps.isEmpty)
        #expect(recording.heard.count > 9600)
      }
    }

    @Test func flushContinuesAtTheNewPosition() throws {
      try PrivatePulseServer.withServer { server in
        let (audio, capture) = try capture(server.address)
        let playing = try Playing(configuration(server.address))
        defer { playing.output.stop() }
        sleepMilliseconds(500)
        let start = monotonicNow()
        playing.output.flush { playing.source.nextFrame.store(500_000, ordering: .relaxed) }
        sleepMilliseconds(500)
        capture.stop()
        let recording = Recording(audio)
        let jumps = recording.jumps
        #expect(jumps.map(\.to) == [500_000])
        let place = try #require(recording.numbers.firstIndex(of: 500_000))
        let fragment = try #require(audio.fragments.last { $0.firstFrame <= place })
        let delay = Double(fragment.arrivalTimeNanoseconds - start) / 1e6
        print("flush to new audio: \(delay) ms with a queue of 200 ms")
        #expect(delay < 100)
        #expect(playing.output.status.underruns == 0)
      }
    }

    @Test func drainPlaysTheQueue() throws {
      try PrivatePulseServer.withServer { server in
        let (audio, capture) = try capture(server.address)
        let playing = try Playing(configuration(server.address))
        defer { playing.output.stop() }
        sleepMilliseconds(400)
        #expect(playing.output.drain())
        let written = playing.output.status.framesWritten
        sleepMilliseconds(100)
        #expect(Recording(audio).heard.last == Int(written) - 1)
        #expect(playing.output.status.framesWritten == written)
        #expect(playing.output.status.state == .drained)
        #expect(playing.output.status.underruns == 0)
        #expect(playing.log.first { $0 == .drained } != nil)
        playing.output.resume()
        sleepMilliseconds(400)
        capture.stop()
        #expect(Recording(audio).jumps.isEmpty)
        #expect(playing.output.status.framesWritten > written)
      }
    }

    @Test func underrunsAreCounted() throws {
      try PrivatePulseServer.withServer { server in
        let playing = try Playing(configuration(server.address, latency: 100))
        defer { playing.output.stop() }
        sleepMilliseconds(400)
        let before = playing.output.status.underruns
        playing.source.delayMicroseconds.store(300_000, ordering: .relaxed)
        // The requests from before the underrun are answered first, one per call.
        let event = playing.log.await(limit: 6000) {
          $0 == .underrun(total: before + 1)
        }
        playing.source.delayMicroseconds.store(0, ordering: .relaxed)
        #expect(event != nil)
        sleepMilliseconds(400)
        let underruns = playing.output.status.underruns
        #expect(underruns > before)
        #expect(playing.output.status.state == .playing)
        print("underruns with a callback of 300 ms and a queue of 100 ms: \(underruns)")
      }
    }
  }
}

/// Plays for about a second and measures the latency.
private struct LatencyAttempt {
  let requested: Double
  let status: AudioOutputStatus
  /// Median over half a second [ms], since the latency varies with the queue.
  let measured: Double
  /// Errors of the presentation times against the monitor [ms].
  let error: (median: Double, largest: Double)

  var isPlausible: Bool {
    (requested / 4...requested + 5).contains(measured) && error.median < 3
  }

  init(_ server: PrivatePulseServer, requested: Double) throws {
    let (audio, capture) = try capture(server.address)
    let playing = try Playing(configuration(server.address, latency: requested))
    defer { playing.output.stop() }
    sleepMilliseconds(700)
    var reports: [Double] = []
    for _ in 0..<25 {
      sleepMilliseconds(20)
      reports.append(try #require(playing.output.status.measuredLatencyMilliseconds))
    }
    capture.stop()
    self.requested = requested
    measured = reports.sorted()[reports.count / 2]
    status = playing.output.status
    error = try presentationErrors(audio, playing.source)
    print(
      "latency asked \(requested), queue \(status.queueMilliseconds),",
      "least request \(status.minimumRequestMilliseconds),",
      "sink \(status.sinkLatencyMilliseconds), measured \(measured),",
      "presentation error p50 \(error.median) max \(error.largest) ms")
  }
}

/// Returns the differences between the presentation times that the source received and the times at
/// which the sink played the frames [ms].
func presentationErrors(
  _ audio: CapturedAudio, _ source: CountingSource
) throws -> (median: Double, largest: Double) {
  let numbers = Recording(audio).numbers
  var errors: [Double] = []
  for fragment in audio.fragments where fragment.firstFrame > 19_200 {
    guard let heard = fragment.captureTimeNanoseconds, let number = numbers[fragment.firstFrame]
    else { continue }
    errors.append(Double(source.presentationTime(of: number) - heard).magnitude / 1e6)
  }
  errors.sort()
  let largest = try #require(errors.last)
  return (errors[errors.count / 2], largest)
}
