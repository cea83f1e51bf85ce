// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing
internal import Synchronization

/// A jump to another part of the source during playback. The old frames fade out over 10 ms. The
/// new frames then fade in over 20 ms.
///
/// ## Threading
/// The thread that writes to the ring prepares a jump, writes the new frames, and then orders the
/// jump. Only the audio thread may call `advance` and `fade`, which are wait-free.
struct SourceJump: ~Copyable, @unchecked Sendable {
  static let fadeOutSeconds = 0.01
  static let fadeInSeconds = 0.02

  private enum Phase {
    case open, out, silent, rising
  }

  private struct State {
    var phase = Phase.open
    /// The number of frames since the start of the fade.
    var position = 0
    /// The gain at the start of the fade-out.
    var start: Float = 1
  }

  /// The number of frames written before the new frames; -1 if there is no jump.
  private let boundary = Atomic(-1)
  /// The source frame of the first new frame; -1 until the jump is ordered.
  private let target = Atomic(-1)
  private let state: UnsafeMutablePointer<State>
  private let fadeOut: AlignedFloats
  private let fadeIn: AlignedFloats

  init(sampleRate: Double) {
    state = .allocate(capacity: 1)
    state.initialize(to: State())
    fadeOut = Self.rise(Int(Self.fadeOutSeconds * sampleRate))
    fadeIn = Self.rise(Int(Self.fadeInSeconds * sampleRate))
  }

  deinit { state.deallocate() }

  private static func rise(_ frames: Int) -> AlignedFloats {
    let shape = AlignedFloats(count: max(1, frames))
    for i in 0..<shape.count {
      shape.pointer[i] = raisedCosine(Double(i + 1) / Double(shape.count))
    }
    return shape
  }

  // MARK: For the conductor

  /// Declares that all frames written to the ring from now on are new. Call this function before
  /// the new frames are written. `frames` is the ring's `writtenFrames`.
  func prepare(afterWritten frames: Int) { boundary.store(frames, ordering: .releasing) }
  /// Orders the prepared jump. `frame` is the source frame of the first new frame.
  func order(toSourceFrame frame: Int) { target.store(frame, ordering: .releasing) }
  /// Forgets the jump. If the jump has not taken place, flush the ring afterwards, because the ring
  /// may contain old and new frames.
  func cancel() {
    target.store(-1, ordering: .relaxed)
    boundary.store(-1, ordering: .releasing)
  }
  /// Whether a jump has been prepared and has not taken place yet.
  var isPending: Bool {
    @_noLocks get { boundary.load(ordering: .acquiring) >= 0 }
  }

  // MARK: For the audio thread

  /// Whether a jump has been ordered and has not taken place yet.
  var isOrdered: Bool {
    @_noLocks get { target.load(ordering: .acquiring) >= 0 }
  }

  /// Advances the jump before frames are taken from the ring.
  ///
  /// - Returns: `most`, the maximum number of frames to take, and `arrivedAt`, the source frame at
  ///   which playback continues after a jump. `arrivedAt` is nil if no jump took place.
  @_noLocks
  func advance(_ ring: FrameRing, isInaudible: Bool) -> (most: Int, arrivedAt: Int?) {
    let end = boundary.load(ordering: .acquiring)
    guard end >= 0 else {
      // If a jump was cancelled after its fade-out had begun, fade in.
      if state.pointee.phase == .out || state.pointee.phase == .silent { rise() }
      return (.max, nil)
    }
    let left = max(0, end - ring.takenFrames)
    let frame = target.load(ordering: .acquiring)
    if state.pointee.phase != .out, state.pointee.phase != .silent {
      if frame >= 0 || left <= fadeOut.count { fall() }
    }
    if left == 0 || isInaudible { state.pointee.phase = .silent }
    guard state.pointee.phase == .silent else { return (left, nil) }
    guard frame >= 0 else { return (0, nil) }
    ring.discard(frames: left)
    cancel()
    rise()
    return (.max, frame)
  }

  /// Applies the fade to the frames that were taken from the ring.
  @_noLocks
  func fade(
    _ planes: UnsafePointer<UnsafeMutablePointer<Float>>, channels: Int, frames: Int
  ) {
    let fade = state.pointee
    switch fade.phase {
    case .open: return
    case .silent: for c in 0..<channels { clearFrames(planes[c], frames) }
    case .out:
      for c in 0..<channels {
        for i in 0..<frames {
          let place = min(fade.position + i, fadeOut.count - 1)
          planes[c][i] *= fade.start * (1 - fadeOut.pointer[place])
        }
      }
      if fade.position + frames >= fadeOut.count { state.pointee.phase = .silent }
    case .rising:
      for c in 0..<channels {
        for i in 0..<min(frames, fadeIn.count - fade.position) {
          planes[c][i] *= fadeIn.pointer[fade.position + i]
        }
      }
      if fade.position + frames >= fadeIn.count { state.pointee.phase = .open }
    }
    state.pointee.position += frames
  }

  @_noLocks
  private func fall() {
    let fade = state.pointee
    let isRising = fade.phase == .rising && fade.position < fadeIn.count
    state.pointee.start = isRising ? (fade.position > 0 ? fadeIn.pointer[fade.position - 1] : 0) : 1
    state.pointee.phase = .out
    state.pointee.position = 0
  }

  @_noLocks
  private func rise() {
    state.pointee.phase = .rising
    state.pointee.position = 0
  }
}
