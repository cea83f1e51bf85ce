// SPDX-License-Identifier: Apache-2.0

import Laboratory
import TestSupport
import Testing

@testable import Capture

extension CaptureServerTests {
  /// Faults of the source and the server while a recording runs.
  @Suite(.serialized) struct FaultTests {
    /// Expects one gap with a cause, and a length that equals the time.
    private func expect(
      _ recording: TestRecording, cause: Gap.Cause, seconds: ClosedRange<Double>,
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      let (planes, time) = recording.stop()
      let length = Double(planes[0].count) / 48_000
      let gaps = recording.events.gaps
      let silent = Double(planes[0].filter { $0 == 0 }.count) / 48_000
      print("\(cause): length \(length) s, time \(time) s, gaps \(gaps), silence \(silent) s")
      #expect(abs(length - time) < 0.05, sourceLocation: sourceLocation)
      #expect(gaps.map(\.cause) == [cause], sourceLocation: sourceLocation)
      #expect(seconds.contains(gaps.first?.seconds ?? 0), sourceLocation: sourceLocation)
      #expect(abs(silent - (gaps.first?.seconds ?? 0)) < 0.001, sourceLocation: sourceLocation)
      #expect(planes[0].suffix(4800).allSatisfy { $0 != 0 }, sourceLocation: sourceLocation)
      expectEqualChannels(planes)
    }

    @Test func aSilentDeviceIsAGap() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        defer { microphone.stop() }
        let recording = try TestRecording(server)
        sleepMilliseconds(1500)
        microphone.mute(true)
        sleepMilliseconds(500)
        microphone.mute(false)
        sleepMilliseconds(1500)
        expect(recording, cause: .device, seconds: 0.45...0.55)
      }
    }

    @Test func aRemovedSourceReturns() throws {
      try PrivatePulseServer.withServer { server in
        let first = try VirtualMicrophone(server)
        let recording = try TestRecording(server)
        sleepMilliseconds(1000)
        try server.unload(module: first.module)
        first.stop()
        sleepMilliseconds(2000)
        let second = try VirtualMicrophone(server)
        defer { second.stop() }
        sleepMilliseconds(1500)
        expect(recording, cause: .inputLost, seconds: 1.95...2.5)
      }
    }

    @Test func aRestartedServerReturns() throws {
      try PrivatePulseServer.withServer { server in
        let first = try VirtualMicrophone(server)
        let recording = try TestRecording(server)
        sleepMilliseconds(1000)
        server.kill()
        first.stop()
        sleepMilliseconds(500)
        try server.restart()
        let second = try VirtualMicrophone(server)
        defer { second.stop() }
        let returned = monotonicNow()
        #expect(
          isTrue(within: 1000) {
            recording.events.kinds.contains { if case .returned = $0 { true } else { false } }
          })
        let milliseconds = Double(monotonicNow() - returned) * 1e-6
        print("recording again after \(milliseconds) ms")
        #expect(milliseconds < 500)
        sleepMilliseconds(1500)
        expect(recording, cause: .serverLost, seconds: 0.45...2)
      }
    }

    @Test func aFrozenServerReturns() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        defer { microphone.stop() }
        let recording = try TestRecording(server)
        sleepMilliseconds(1500)
        server.freeze()
        sleepMilliseconds(2000)
        server.thaw()
        sleepMilliseconds(1500)
        // What waits in the FIFO is not lost.
        expect(recording, cause: .serverFrozen, seconds: 1.5...2.05)
      }
    }

    @Test func aSuspendedSourceReturns() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        defer { microphone.stop() }
        let recording = try TestRecording(server)
        sleepMilliseconds(1500)
        try server.pactl(["suspend-source", "mic", "1"])
        sleepMilliseconds(1000)
        try server.pactl(["suspend-source", "mic", "0"])
        sleepMilliseconds(1500)
        expect(recording, cause: .suspended, seconds: 0.6...1.1)
      }
    }

    @Test func anotherRateIsConverted() throws {
      try PrivatePulseServer.withServer { server in
        let first = try VirtualMicrophone(server)
        let recording = try TestRecording(server)
        sleepMilliseconds(1000)
        try server.unload(module: first.module)
        first.stop()
        sleepMilliseconds(300)
        var form = VirtualMicrophone.Form()
        (form.rate, form.values) = (32_000, { _, channel in Float(channel + 1) / 8 })
        let second = try VirtualMicrophone(server, form)
        defer { second.stop() }
        sleepMilliseconds(2000)
        let (planes, seconds) = recording.stop()
        #expect(abs(Double(planes[0].count) / 48_000 - seconds) < 0.05)
        #expect(recording.events.gaps.map(\.cause) == [.inputLost])
        #expect(
          recording.events.kinds.contains {
            if case .formatChanged(let rate, _) = $0 { rate == 32_000 } else { false }
          })
        for channel in 0..<4 {
          let value = planes[channel][planes[channel].count - 9600]
          #expect(abs(value - Float(channel + 1) / 8) < 1e-3)
        }
      }
    }

    @Test func aSilentSourceStopsAtOnce() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        microphone.mute(true)
        defer { microphone.stop() }
        let recording = try TestRecording(server)
        sleepMilliseconds(1000)
        let asked = monotonicNow()
        let (planes, seconds) = recording.stop()
        #expect(Double(monotonicNow() - asked) * 1e-9 < 0.5)
        #expect(abs(Double(planes[0].count) / 48_000 - seconds) < 0.05)
      }
    }

    @Test func aLossEndsTheRecordingOnRequest() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        let recording = try TestRecording(server) { $0.stopsOnLoss = true }
        sleepMilliseconds(800)
        try server.unload(module: microphone.module)
        microphone.stop()
        #expect(isTrue(within: 2000) { recording.recorder.isFinished })
        #expect(recording.sink.isFinished)
      }
    }
  }
}
