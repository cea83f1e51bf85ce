// SPDX-License-Identifier: Apache-2.0

import CAllocationCounter
import Glibc
import Laboratory
import PipeWire
import PulseAudio
import SoundServer
import Synchronization
import TestSupport
import Testing

extension PipeWireServerTests {
  @Suite(.serialized) struct VirtualSinkTimingTests {
    /// The program's first channel also plays to the right of the real sink, without the virtual
    /// one.
    @Test(arguments: [256, 1024]) func sinkAddsNoLatency(quantum: Int) throws {
      try PrivatePipeWireServer.withServer { server in
        try server.set("clock.force-quantum", to: quantum)
        let live = try LiveSink(server, channels: 2)
        defer { live.sink.stop() }
        let (audio, capture) = try capture(server)
        let file = try ToneFile(channels: 2, silent: [1])
        let player = try file.play(.pwPlay, to: live.name, on: server)
        #expect(live.bed.waitFor(frames: 10_000), "\(player.lines.map(\.text))")
        let link = try ProgramRun.of(
          "pw-link", ["pw-play:output_FL", "ears:playback_FR"],
          environment: server.environment.mapValues { $0 })
        #expect(link.exitCode == 0, "\(link.errors)")
        sleepMilliseconds(1500)
        capture.stop()
        let samples = audio.samples.suffix(48_000)
        let pairs = stride(from: samples.startIndex, to: samples.endIndex - 1, by: 2)
        let difference = pairs.map { abs(samples[$0] - samples[$0 + 1]) }.max() ?? 1
        let peak = samples.map(abs).max() ?? 0
        print("quantum \(quantum): largest difference \(difference), peak \(peak)")
        #expect(peak > 0.2)
        #expect(difference < 1e-6)
      }
    }

    /// As in `sinkAddsNoLatency`, the program's first channel also plays to the right of the real
    /// sink without the virtual one. Both must stay equal.
    @Test func aChangeOfTheQuantumLosesNoSound() throws {
      try PrivatePipeWireServer.withServer { server in
        try server.set("clock.force-quantum", to: 1024)
        let live = try LiveSink(server, channels: 2)
        defer { live.sink.stop() }
        let (audio, capture) = try capture(server)
        let file = try ToneFile(channels: 2, silent: [1])
        let player = try file.play(.pwPlay, to: live.name, on: server)
        #expect(live.bed.waitFor(frames: 10_000), "\(player.lines.map(\.text))")
        let link = try ProgramRun.of(
          "pw-link", ["pw-play:output_FL", "ears:playback_FR"],
          environment: server.environment.mapValues { $0 })
        #expect(link.exitCode == 0, "\(link.errors)")
        sleepMilliseconds(1000)
        let start = audio.samples.count
        for quantum in [256, 2048, 512, 128, 1024] {
          try server.set("clock.force-quantum", to: quantum)
          sleepMilliseconds(400)
        }
        capture.stop()
        let samples = audio.samples.dropFirst(start)
        let pairs = stride(from: samples.startIndex, to: samples.endIndex - 1, by: 2)
        let unequal = pairs.count { abs(samples[$0] - samples[$0 + 1]) > 1e-6 }
        print("changes of the quantum: \(unequal) frames differ")
        #expect(samples.map(abs).max() ?? 0 > 0.2)
        #expect(unequal == 0)
      }
    }

    @Test func delayOfTheCallbackIsReportedToPrograms() throws {
      try PrivatePipeWireServer.withServer { server in
        let live = try LiveSink(server, channels: 2)
        defer { live.sink.stop() }
        let source = CountingSource()
        var asked = AudioOutputConfiguration()
        asked.serverAddress = server.address
        asked.sinkName = live.name
        asked.latencyMilliseconds = 60
        let output = try PulseOutput(asked, render: source.callback)
        defer { output.stop() }
        try output.start()
        func reported() -> Double {
          sleepMilliseconds(1500)
          let reports = (0..<40).map { _ in
            sleepMilliseconds(20)
            return output.status.measuredLatencyMilliseconds ?? -1000
          }
          return reports.reduce(0, +) / Double(reports.count)
        }
        let before = reported()
        live.sink.report(delayFrames: 4800)
        let after = reported()
        print("reported \(before) ms, with 100 ms of delay \(after) ms")
        #expect(abs(after - before - 100) < 15)
        #expect(live.sink.configuration.delayFrames == 4800)
      }
    }

    @Test(arguments: [44_100, 96_000]) func anotherRateOfTheGraphCausesNoGaps(rate: Int) throws {
      try PrivatePipeWireServer.withServer { server in
        try server.set("clock.force-rate", to: rate)
        let live = try LiveSink(server, channels: 2)
        defer { live.sink.stop() }
        let (audio, capture) = try capture(server)
        let file = try ToneFile(channels: 2)
        let player = try file.play(.pacat, to: live.name, on: server)
        #expect(live.bed.waitFor(frames: 120_000), "\(player.lines.map(\.text))")
        capture.stop()
        let left = audio.samples.enumerated().filter { $0.offset % 2 == 0 }.map {
          Double($0.element)
        }
        // Skips the fade at the start.
        let start = (left.firstIndex { $0 != 0 } ?? 0) + 24_000
        let residuals = (0..<7).map { quarter in
          residualDecibels(
            Array(left.dropFirst(start + 12_000 * quarter).prefix(12_000)),
            frequency: ToneFile.frequency(0), sampleRate: 48_000)
        }
        print("graph at \(rate) Hz: residuals \(residuals) dB")
        #expect(residuals.allSatisfy { $0 < -55 })
      }
    }

    /// Counts what the data thread does from the end of one call of the render function to the
    /// beginning of the next one.
    private final class CycleCounter: @unchecked Sendable {
      let cycles = Atomic<Int64>(0)
      let operations = Atomic<Int64>(0)
      let references = Atomic<Int64>(0)
      private var isCounting = false

      var callback: LiveRenderCallback {
        LiveRenderCallback(owner: self) { context, _, samples, frames, _ in
          Unmanaged<CycleCounter>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.render(samples, frames)
          }
        }
      }

      private func render(_ samples: UnsafeMutablePointer<Float>, _ frames: Int) {
        if isCounting {
          let counts = operation_counter_stop()
          operations.add(
            counts.allocations + counts.frees + counts.mutex_locks, ordering: .relaxed)
          references.add(counts.retains + counts.releases, ordering: .relaxed)
        }
        for index in 0..<2 * frames { samples[index] = 0.25 }
        cycles.add(1, ordering: .relaxed)
        isCounting = true
        operation_counter_start()
      }
    }

    @Test(arguments: [48_000, 44_100]) func cyclesNeitherAllocateNorLock(rate: Int) throws {
      try PrivatePipeWireServer.withServer { server in
        let counter = CycleCounter()
        var output = configuration(server, latency: 5.4, rate: rate)
        output.sinkName = "ears"
        let sink = try PipeWireVirtualSink(
          VirtualSinkConfiguration(
            name: "stillstage-test", title: "Stillstage test", layout: bed(6), output: output),
          render: counter.callback)
        defer { sink.stop() }
        try sink.start()
        let playerFile = try ToneFile(channels: 6)
        let player = try playerFile.play(.pacat, to: "stillstage-test", on: server)
        sleepMilliseconds(2500)
        let cycles = counter.cycles.load(ordering: .relaxed)
        let operations = counter.operations.load(ordering: .relaxed)
        let references = counter.references.load(ordering: .relaxed)
        print("\(rate) Hz, \(cycles) cycles: \(operations) operations, \(references) retains")
        #expect(cycles > 150, "\(player.lines.map(\.text))")
        #expect(operations == 0)
        #if !DEBUG
          #expect(references == 0)
        #endif
      }
    }
  }
}
