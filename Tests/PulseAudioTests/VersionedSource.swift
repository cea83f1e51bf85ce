// SPDX-License-Identifier: Apache-2.0

import Glibc
import PulseAudio
import Synchronization

/// Renders a frame's number on the left and, on the right, the version in which it was rendered, so
/// that a recording shows which version of each frame was heard.
///
/// What is appended is of version 0; every `turn` asks for the next version, which is rendered by a
/// rewrite. The versions are so soft that the output sees no seam between them.
final class VersionedSource: @unchecked Sendable {
  /// One call of the rewrite function that returned a piece.
  struct Piece {
    let version: Int
    /// When it was called, CLOCK_MONOTONIC [ns].
    let time: Int64
    /// When its first frame was said to be heard [ns].
    let presentationTime: Int64
    let start: Int
    let count: Int
  }

  static let versions = 90
  private static let numberScale = Float(1 << 22)
  private static let versionScale: Float = 1e6
  private static let pieceLimit = 20_000

  /// Each turn's version is rendered by this many rewrites in a row.
  let rewritesPerTurn = Atomic<Int>(1)
  /// Time each rewrite takes besides [us].
  let delayMicroseconds = Atomic<UInt32>(0)
  let wanted = Atomic<Int>(0)
  let calls = Atomic<Int>(0)
  /// Calls that asked for what is not in the queue's range.
  let wrongCalls = Atomic<Int>(0)
  private let nextFrame = Atomic<Int>(0)
  private let pieceCount = Atomic<Int>(0)
  private let storage: UnsafeMutablePointer<Piece>
  private let turnTimes: UnsafeMutablePointer<Int64>
  // The audio thread's own.
  private var rendered = 0
  private var repeats = 0

  init() {
    storage = .allocate(capacity: Self.pieceLimit)
    turnTimes = .allocate(capacity: Self.pieceLimit)
    turnTimes.initialize(repeating: 0, count: Self.pieceLimit)
  }

  deinit {
    storage.deallocate()
    turnTimes.deallocate()
  }

  var callback: AudioRenderCallback {
    AudioRenderCallback(owner: self) { context, interleaved, frameCount, time in
      Unmanaged<VersionedSource>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.render(interleaved, frameCount)
      }
    } rewrite: { context, interleaved, framesBack, frameCount, time in
      Unmanaged<VersionedSource>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.rewrite(interleaved, framesBack, frameCount, time)
      }
    }
  }

  var pieces: [Piece] {
    (0..<pieceCount.load(ordering: .acquiring)).map { storage[$0] }
  }

  /// When the turn that asked for `version` was.
  func turnTime(_ version: Int) -> Int64 { turnTimes[version] }

  /// The head turns: what is queued should be rendered again.
  func turn() {
    let version = wanted.load(ordering: .relaxed) + 1
    turnTimes[version] = monotonicNow()
    wanted.store(version, ordering: .releasing)
  }

  static func number(_ sample: Float) -> Int? {
    sample == 0 ? nil : Int((sample * numberScale).rounded()) - 1
  }

  /// The version's number modulo `versions`, from 1; 0: as appended.
  static func code(_ sample: Float) -> Int { Int((sample * versionScale).rounded()) }
  static func code(version: Int) -> Int { version == 0 ? 0 : version % versions + 1 }

  private func render(_ samples: UnsafeMutablePointer<Float>, _ count: Int) {
    let first = nextFrame.load(ordering: .relaxed)
    fill(samples, first, count, version: 0)
    nextFrame.store(first + count, ordering: .relaxed)
  }

  private func rewrite(
    _ samples: UnsafeMutablePointer<Float>, _ framesBack: Int, _ count: Int, _ time: Int64
  ) -> Int {
    calls.add(1, ordering: .relaxed)
    let end = nextFrame.load(ordering: .relaxed)
    if framesBack < count || framesBack > end { wrongCalls.add(1, ordering: .relaxed) }
    let version = wanted.load(ordering: .acquiring)
    repeats = version == rendered ? repeats + 1 : 0
    guard version > 0, repeats < rewritesPerTurn.load(ordering: .relaxed) else { return 0 }
    rendered = version
    fill(samples, end - framesBack, count, version: version)
    let index = pieceCount.load(ordering: .relaxed)
    if index < Self.pieceLimit {
      storage[index] = Piece(
        version: version, time: monotonicNow(), presentationTime: time, start: end - framesBack,
        count: count)
      pieceCount.store(index + 1, ordering: .releasing)
    }
    let delay = delayMicroseconds.load(ordering: .relaxed)
    if delay > 0 { usleep(delay) }
    return count
  }

  private func fill(
    _ samples: UnsafeMutablePointer<Float>, _ first: Int, _ count: Int, version: Int
  ) {
    let code = Float(Self.code(version: version)) / Self.versionScale
    for i in 0..<count {
      samples[2 * i] = Float(first + i + 1) / Self.numberScale
      samples[2 * i + 1] = code
    }
  }
}
