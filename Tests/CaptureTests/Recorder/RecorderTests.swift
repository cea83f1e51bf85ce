// SPDX-License-Identifier: Apache-2.0

import Laboratory
import PulseAudio
import SoundServer
import TestSupport
import Testing

@testable import Capture

extension CaptureServerTests {
  @Suite(.serialized) struct RecorderTests {
    @Test(arguments: ["float32le", "s16le", "s32le"])
    func samplesAreUnchanged(_ format: String) throws {
      try PrivatePulseServer.withServer { server in
        var form = VirtualMicrophone.Form()
        form.format = format
        let microphone = try VirtualMicrophone(server, form)
        defer { microphone.stop() }
        let recording = try TestRecording(server)
        sleepMilliseconds(1500)
        let (planes, _) = recording.stop()
        #expect(planes[0].count > 60_000)
        expectEqualChannels(planes)
        let breaks = Numbering.breaks(planes[0]).filter { $0 > staleFrames }
        #expect(breaks.isEmpty)
        #expect(recording.events.gaps.isEmpty)
        #expect(recording.sink.isFinished)
      }
    }

    @Test func aRecordingEndsAtItsLimit() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        defer { microphone.stop() }
        let recording = try TestRecording(server) { $0.seconds = 0.75 }
        #expect(isTrue(within: 3000) { recording.recorder.isFinished })
        #expect(recording.sink.isFinished)
        #expect(recording.stop().planes[0].count == 36_000)
      }
    }

    /// The length is counted from the first frame, however late the source begins.
    @Test func aLateSourceIsRecordedInFull() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        microphone.mute(true)
        defer { microphone.stop() }
        let recording = try TestRecording(server) { $0.seconds = 0.5 }
        sleepMilliseconds(1300)
        microphone.mute(false)
        #expect(isTrue(within: 4000) { recording.recorder.isFinished })
        let planes = recording.stop().planes
        #expect(planes[0].count == 24_000)
        #expect(recording.events.gaps.isEmpty, "\(recording.events.gaps)")
        #expect(planes[0].allSatisfy { $0 != 0 })
      }
    }

    @Test func anEndThatDoesNotArriveIsAGap() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        defer { microphone.stop() }
        let recording = try TestRecording(server) { $0.seconds = 1 }
        sleepMilliseconds(500)
        microphone.mute(true)
        #expect(isTrue(within: 4000) { recording.recorder.isFinished })
        let planes = recording.stop().planes
        #expect(planes[0].count == 48_000)
        let silent = Double(planes[0].count { $0 == 0 }) / 48_000
        #expect(silent > 0.2)
        let status = recording.recorder.status
        #expect(status.gaps == 1 && abs(status.gapSeconds - silent) < 0.001, "\(status)")
      }
    }

    @Test func aSlowSinkLosesNothing() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        defer { microphone.stop() }
        let sink = MemorySink(stallAt: 30_000, stallMilliseconds: 3000)
        let recording = try TestRecording(server, sink: sink)
        sleepMilliseconds(4500)
        let (planes, seconds) = recording.stop()
        #expect(abs(Double(planes[0].count) / 48_000 - seconds) < 0.05)
        #expect(Numbering.breaks(planes[0]).filter { $0 > staleFrames }.isEmpty)
        #expect(recording.events.gaps.isEmpty)
      }
    }

    @Test func aFullBufferIsAGap() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        defer { microphone.stop() }
        let sink = MemorySink(stallAt: 30_000, stallMilliseconds: 2500)
        // A buffer of 1 s for four channels.
        let recording = try TestRecording(server, sink: sink) { $0.bufferSeconds = 0.5 }
        sleepMilliseconds(4500)
        let (planes, seconds) = recording.stop()
        #expect(abs(Double(planes[0].count) / 48_000 - seconds) < 0.05)
        #expect(recording.events.gaps.map(\.cause) == [.overrun])
        let silent = planes[0].filter { $0 == 0 }.count
        #expect(abs(Double(silent) / 48_000 - (recording.events.gaps.first?.seconds ?? 0)) < 1e-3)
      }
    }

    @Test func anErrorOfTheSinkEndsTheRecording() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        defer { microphone.stop() }
        let recording = try TestRecording(server, sink: MemorySink(failAt: 24_000))
        #expect(isTrue(within: 3000) { recording.recorder.isFinished })
        #expect(recording.recorder.status.state == .failed(reason: "Full()"))
        #expect(recording.recorder.status.secondsLeft == 1234)
        #expect(recording.sink.finishCount == 1)
      }
    }

    @Test func anErrorAtTheEndIsReportedAndTheSinkIsFinishedOnce() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        defer { microphone.stop() }
        let recording = try TestRecording(server, sink: MemorySink(failsAtEnd: true)) {
          $0.seconds = 0.5
        }
        #expect(isTrue(within: 3000) { recording.recorder.isFinished })
        #expect(recording.recorder.status.state == .failed(reason: "Full()"))
        #expect(recording.sink.finishCount == 1)
        #expect(recording.stop().planes[0].count == 24_000)
      }
    }

    @Test func aPauseLeavesNoGap() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        defer { microphone.stop() }
        let recording = try TestRecording(server)
        sleepMilliseconds(1000)
        recording.recorder.isPaused = true
        sleepMilliseconds(1000)
        #expect(recording.recorder.status.state == .paused)
        recording.recorder.isPaused = false
        sleepMilliseconds(1000)
        let (planes, seconds) = recording.stop()
        #expect(abs(Double(planes[0].count) / 48_000 - (seconds - 1)) < 0.08)
        #expect(!planes[0].contains(0))
        #expect(Numbering.breaks(planes[0]).filter { $0 > staleFrames }.count == 1)
        #expect(recording.events.gaps.isEmpty)
        #expect(recording.events.kinds.contains(.paused))
        #expect(recording.events.kinds.contains(.resumed))
      }
    }

    @Test func theInputChangesWhileRecording() throws {
      try PrivatePulseServer.withServer { server in
        let first = try VirtualMicrophone(server)
        var form = VirtualMicrophone.Form()
        (form.name, form.channels, form.rate) = ("other", 1, 44_100)
        form.values = { _, _ in 0.5 }
        let second = try VirtualMicrophone(server, form)
        defer {
          first.stop()
          second.stop()
        }
        let recording = try TestRecording(server)
        sleepMilliseconds(1000)
        recording.recorder.change(to: "other")
        sleepMilliseconds(1500)
        let (planes, seconds) = recording.stop()
        #expect(abs(Double(planes[0].count) / 48_000 - seconds) < 0.05)
        #expect(recording.events.kinds.contains(.inputChanged(input: "other")))
        // The change may be without any missing sound.
        #expect(recording.events.gaps.allSatisfy { $0.cause == .inputChanged })
        #expect(recording.recorder.status.gaps == 0)
        // A single channel goes to W of a soundfield. This frame is well inside the resampled
        // sound.
        let end = planes[0].count - 4800
        #expect(abs(planes[0][end] - 0.5) < 1e-3)
        #expect(planes[1][end] == 0)
      }
    }

    @Test func invalidSamplesBecomeSilenceAndClippingIsCounted() throws {
      try PrivatePulseServer.withServer { server in
        var form = VirtualMicrophone.Form()
        form.values = { frame, channel in
          switch (channel, frame % 1000) {
          case (0, 0): .nan
          case (1, 0): .infinity
          case (2, 0): 1
          default: 0.25
          }
        }
        let microphone = try VirtualMicrophone(server, form)
        defer { microphone.stop() }
        let recording = try TestRecording(server)
        sleepMilliseconds(1200)
        let (planes, _) = recording.stop()
        let status = recording.recorder.status
        let zeros = planes[0].filter { $0 == 0 }.count
        #expect(zeros > 40)
        #expect(status.invalidSamples == zeros + planes[1].filter { $0 == 0 }.count)
        #expect(status.clippedSamples == planes[2].filter { $0 == 1 }.count)
        #expect(planes.allSatisfy { $0.allSatisfy(\.isFinite) })
      }
    }

    @Test func channelsAreSelectedAndTheGainApplies() throws {
      try PrivatePulseServer.withServer { server in
        var form = VirtualMicrophone.Form()
        form.channels = 8
        form.values = { _, channel in Float(channel + 1) / 16 }
        let microphone = try VirtualMicrophone(server, form)
        defer { microphone.stop() }
        let recording = try TestRecording(server) {
          $0.selection = [2, 3, 4, 5]
          $0.gain = 2
        }
        sleepMilliseconds(800)
        let (planes, _) = recording.stop()
        let expected: [Float] = [6.0 / 16, 8.0 / 16, 10.0 / 16, 12.0 / 16]
        #expect(planes.map { $0[$0.count - 4800] } == expected)
      }
    }

    @Test func unclearChannelsAreRefused() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        defer { microphone.stop() }
        #expect(throws: RecorderError.unclearChannels(count: 4)) {
          try TestRecording(server) { $0.microphone = nil }
        }
        #expect(throws: RecorderError.channelMismatch(expected: 2, found: 4)) {
          try TestRecording(server) { $0.microphone = .stereo }
        }
        #expect(throws: RecorderError.noSuchChannel(4, count: 4)) {
          try TestRecording(server) { $0.selection = [1, 2, 3, 4] }
        }
        #expect(throws: SoundServerError.self) {
          try TestRecording(server) { $0.sourceName = "absent" }
        }
      }
    }
  }
}
