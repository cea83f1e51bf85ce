// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import SoundServer

struct ClockBridgeTests {
  private static let rate = 48_000.0
  private static let depth = ClockBridge.Depth(initial: 0.02, longest: 0.08, excess: 0.04)

  /// Two clocks that write and read in blocks of their own. Times are in seconds.
  private struct Clocks {
    let bridge: ClockBridge
    /// The speed of the writer's clock compared with the reader's.
    var speed = 1.0
    var writeBlock = 480
    var readBlock = 360
    private(set) var heard: [Float] = []
    private var time = 0.0
    private var written = 0
    private var read = 0

    init(_ depth: ClockBridge.Depth) {
      bridge = ClockBridge(channelCount: 1, sampleRate: ClockBridgeTests.rate, depth: depth)
    }

    /// Runs both clocks. `value` is the sample of a written frame.
    mutating func run(
      seconds: Double, isWriting: Bool = true, _ value: (_ frame: Int) -> Float
    ) {
      let end = time + seconds
      while time < end {
        let nextWrite = Double(written + writeBlock) / ClockBridgeTests.rate / speed
        let nextRead = Double(read + readBlock) / ClockBridgeTests.rate
        time = min(nextWrite, nextRead)
        if nextWrite <= nextRead {
          let block = (written..<written + writeBlock).map(value)
          if isWriting { bridge.write(block, frameCount: writeBlock) }
          written += writeBlock
        } else {
          var block = [Float](repeating: 0, count: readBlock)
          _ = block.withUnsafeMutableBufferPointer {
            bridge.read($0.baseAddress!, frameCount: readBlock)
          }
          heard += block
          read += readBlock
        }
      }
    }
  }

  @Test(arguments: [-300e-6, 0, 300e-6])
  func aDriftIsFollowedWithoutAPause(_ drift: Double) {
    var clocks = Clocks(Self.depth)
    clocks.speed = 1 + drift
    clocks.run(seconds: 90) { Float(sin(2 * .pi * 997 * Double($0) / Self.rate)) }
    #expect(clocks.bridge.pauses == 0)
    let waiting = Double(clocks.bridge.waitingFrames) / Self.rate
    #expect(abs(waiting - 0.02) < 0.015, "\(waiting)")
    // The tone keeps its level and its purity: consecutive samples of a sine obey
    // x[n+1] + x[n-1] = 2 cos(w) x[n].
    let tail = clocks.heard.suffix(48_000).map(Double.init)
    let factor = 2 * cos(2 * .pi * 997 * (1 + drift) / Self.rate)
    var error = 0.0
    for i in 1..<tail.count - 1 {
      error += pow(tail[i + 1] + tail[i - 1] - factor * tail[i], 2)
    }
    let power = tail.reduce(0) { $0 + $1 * $1 }
    #expect(abs(power / 48_000 - 0.5) < 0.005)
    #expect(10 * log10(error / power) < -80, "\(10 * log10(error / power))")
  }

  @Test func missingFramesDeepenTheQueue() {
    var clocks = Clocks(Self.depth)
    clocks.run(seconds: 1) { _ in 1 }
    for _ in 0..<8 {
      clocks.run(seconds: 0.2, isWriting: false) { _ in 1 }
      clocks.run(seconds: 0.5) { _ in 1 }
    }
    #expect(clocks.bridge.pauses == 8)
    #expect(clocks.bridge.targetSeconds == Self.depth.longest)
    // The sound is back.
    #expect(clocks.heard.suffix(100).allSatisfy { abs($0 - 1) < 1e-5 })
  }

  @Test func aQueueThatIsDeeperThanNecessaryBecomesShallow() {
    var clocks = Clocks(Self.depth)
    clocks.run(seconds: 1) { _ in 1 }
    for _ in 0..<3 {
      clocks.run(seconds: 0.2, isWriting: false) { _ in 1 }
      clocks.run(seconds: 0.5) { _ in 1 }
    }
    #expect(clocks.bridge.targetSeconds > 0.06)
    clocks.run(seconds: 240) { _ in 1 }
    #expect(clocks.bridge.pauses == 3)
    #expect(clocks.bridge.targetSeconds < 0.028, "\(clocks.bridge.targetSeconds)")
    #expect(Double(clocks.bridge.waitingFrames) / Self.rate < 0.035)
  }

  /// Reads of 15 ms leave nothing of a queue of 12 ms, so it becomes deeper by itself.
  @Test func aScarceQueueBecomesDeeperWithoutManyPauses() {
    var clocks = Clocks(ClockBridge.Depth(initial: 0.012, longest: 0.08, excess: 0.04))
    clocks.readBlock = 720
    clocks.run(seconds: 30) { _ in 1 }
    let pauses = clocks.bridge.pauses
    #expect(pauses < 4, "\(pauses)")
    clocks.run(seconds: 300) { _ in 1 }
    #expect(clocks.bridge.pauses == pauses)
    #expect(clocks.bridge.targetSeconds < 0.034, "\(clocks.bridge.targetSeconds)")
  }

  @Test func aBlockThatIsLateForOnceIsNoInterruption() {
    var clocks = Clocks(ClockBridge.Depth(initial: 0.016, longest: 0.08, excess: 0.04))
    clocks.writeBlock = 240
    clocks.run(seconds: 120) { _ in 1 }
    let pauses = clocks.bridge.pauses
    for _ in 0..<5 {
      clocks.run(seconds: 0.005, isWriting: false) { _ in 1 }
      clocks.run(seconds: 60) { _ in 1 }
    }
    #expect(clocks.bridge.pauses == pauses)
  }

  /// A server may fill its own queue with the first read.
  @Test func aLongFirstReadIsNoPause() {
    let bridge = ClockBridge(channelCount: 1, sampleRate: Self.rate, depth: Self.depth)
    var block = [Float](repeating: 0, count: 4800)
    func read(_ count: Int) -> Int {
      block.withUnsafeMutableBufferPointer { bridge.read($0.baseAddress!, frameCount: count) }
    }
    bridge.write(block, frameCount: 1200)
    #expect(read(2400) == 0)
    bridge.write(block, frameCount: 4800)
    #expect(read(2400) == 2400)
    #expect(bridge.pauses == 0)
    // The rest of the surplus was skipped.
    #expect(bridge.waitingFrames < 400, "\(bridge.waitingFrames)")
  }

  @Test func soundFadesInAfterAPause() {
    var clocks = Clocks(Self.depth)
    clocks.run(seconds: 1) { _ in 1 }
    let first = clocks.heard.firstIndex { $0 != 0 } ?? 0
    let steps = zip(clocks.heard[first...], clocks.heard[(first + 1)...]).map { abs($1 - $0) }
    #expect((steps.max() ?? 1) < 0.003)
  }

  @Test func anExcessIsDropped() {
    var clocks = Clocks(Self.depth)
    clocks.run(seconds: 1) { _ in 1 }
    let burst = [Float](repeating: 1, count: 9600)
    clocks.bridge.write(burst, frameCount: 9600)
    clocks.run(seconds: 3) { _ in 1 }
    #expect(Double(clocks.bridge.waitingFrames) / Self.rate < 0.05)
    #expect(clocks.bridge.pauses == 0)
  }

  @Test func aConstantDepthKeepsAllSound() {
    var clocks = Clocks(.constant(0.04))
    clocks.run(seconds: 5) { Float($0) }
    // Consecutive frames differ by the ratio of the clocks alone.
    let sound = clocks.heard.drop { $0 == 0 }
    for (now, next) in zip(sound, sound.dropFirst()) { #expect(abs(next - now - 1) < 0.02) }
    #expect(clocks.bridge.pauses == 0)
  }
}
