// SPDX-License-Identifier: Apache-2.0

import SoundServer

/// Mixes the sound of the virtual sinks in use.
///
/// ## Threading
/// The functions of `callback` run on the output's audio thread. Use the other members only while
/// neither function runs.
final class SinkMix: @unchecked Sendable {
  /// The largest number of virtual sinks to mix.
  static let capacity = 16
  /// The largest request for which all sinks are mixed [frames]. In a larger request, only the
  /// first sink is heard.
  private static let scratchFrames = 1 << 16

  private var feeds: [SinkFeed] = []
  /// The feeds in use, for the audio thread. Reading an object from an array would retain it.
  private let used: UnsafeMutablePointer<Unmanaged<SinkFeed>?>
  private var usedCount = 0
  private let scratch: UnsafeMutablePointer<Float>

  init() {
    used = .allocate(capacity: Self.capacity)
    used.initialize(repeating: nil, count: Self.capacity)
    scratch = .allocate(capacity: 2 * Self.scratchFrames)
    scratch.initialize(repeating: 0, count: 2 * Self.scratchFrames)
  }

  deinit {
    used.deallocate()
    scratch.deallocate()
  }

  var isUsed: Bool { usedCount > 0 }

  /// Sets the feeds to mix. Feeds beyond the first `capacity` are ignored.
  func use(_ feeds: [SinkFeed]) {
    self.feeds = Array(feeds.prefix(Self.capacity))
    usedCount = self.feeds.count
    for (index, feed) in self.feeds.enumerated() { used[index] = .passUnretained(feed) }
  }

  var callback: AudioRenderCallback {
    var callback = AudioRenderCallback(owner: self) { context, output, frameCount, time in
      Unmanaged<SinkMix>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.render(output, frameCount, time)
      }
    }
    callback.prepare = { context, frameCount in
      Unmanaged<SinkMix>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.read(frameCount) }
    }
    return callback
  }

  private func read(_ frameCount: Int) {
    for index in 0..<usedCount {
      used[index]?._withUnsafeGuaranteedRef { $0.read(frameCount) }
    }
  }

  private func render(_ output: UnsafeMutablePointer<Float>, _ frameCount: Int, _ time: Int64) {
    guard usedCount > 0 else { return output.update(repeating: 0, count: 2 * frameCount) }
    used[0]?._withUnsafeGuaranteedRef { $0.render(output, frameCount, time) }
    guard frameCount <= Self.scratchFrames else { return }
    for index in 1..<max(1, usedCount) {
      used[index]?._withUnsafeGuaranteedRef { $0.render(scratch, frameCount, time) }
      for i in 0..<2 * frameCount { output[i] += scratch[i] }
    }
  }
}
