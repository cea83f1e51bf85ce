// SPDX-License-Identifier: Apache-2.0

import Glibc
import PulseAudio
import SoundServer
import Synchronization

/// Renders a frame's number on the left and the version of its rendering on the right, so that a
/// recording shows which version of each frame was played.
///
/// Appended frames have version 0. Every `turn` requests the next version, which a rewrite renders.
/// The version samples are so small that the output detects no seam between them.
final class VersionedSource: @unchecked Sendable {
  /// A call of the rewrite function that returned a piece.
  struct Piece {
    let version: Int
    /// The time of the call, CLOCK_MONOTONIC [ns].
    let time: Int64
    /// The presentation time of its first frame [ns].
    let presentationTime: Int64
    let start: Int
    let count: Int
  }

  static let versions = 90
  private static let numberScale = Float(1 << 23)
  private static let versionScale: Float = 1e6
  private static let pieceLimit = 20_000

  /// The number of consecutive rewrites that render each turn's version.
  let rewritesPerTurn = Atomic<Int>(1)
  /// Extra time that each rewrite takes [us].
  let delayMicroseconds = Atomic<UInt32>(0)
  let wanted = Atomic<Int>(0)
  let calls = Atomic<Int>(0)
  /// The first frame that can be in the queue.
  let firstQueued = Atomic<Int>(0)
  /// The number of calls for frames that are not in the queue.
  let wrongCalls = Atomic<Int>(0)
  private let nextFrame = Atomic<Int>(0)
  private let pieceCount = Atomic<Int>(0)
  private let storage: UnsafeMutablePointer<Piece>
  private let turnTimes: UnsafeMutablePointer<Int64>
  // The audio thread owns these.
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

  /// Returns the time of the turn that requested `version`.
  func turnTime(_ version: Int) -> Int64 { turnTimes[version] }

  /// Notes that none of the frames rendered so far are in the queue.
  func dropQueue() {
    firstQueued.store(nextFrame.load(ordering: .relaxed), ordering: .relaxed)
  }

  /// Turns the head, so that the queue must be rendered again.
  func turn() {
    let version = wanted.load(ordering: .relaxed) + 1
    turnTimes[version] = monotonicNow()
    wanted.store(version, ordering: .releasing)
  }

  static func number(_ sample: Float) -> Int? {
    sample == 0 ? nil : Int((sample * numberScale).rounded()) - 1
  }

  /// Returns the version code in a sample: the version modulo `versions`, plus 1; 0 for appended
  /// frames.
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
    let first = firstQueued.load(ordering: .relaxed)
    if framesBack < count || framesBack > end - first { wrongCalls.add(1, ordering: .relaxed) }
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
