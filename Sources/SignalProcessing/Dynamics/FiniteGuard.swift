// SPDX-License-Identifier: Apache-2.0

internal import CRealtime
internal import Synchronization

/// Mutes NaN, infinite and out-of-range samples.
///
/// A bad sample mutes the frame in every channel. In place of the muted sound, the last output
/// sample decays with a time constant of 1 ms. The sound fades in within 5 ms after the last bad
/// frame. The output magnitude is at most the bound. Good frames outside a fade-in pass unchanged.
/// The output does not depend on the number of frames per call.
///
/// ## Threading
/// Call `process` and `reset` from one thread at a time; they are wait-free. Any thread may read
/// `badFrameCount`.
public struct FiniteGuard: ~Copyable, @unchecked Sendable {
  public let channelCount: Int
  /// The largest magnitude that passes.
  public let bound: Float

  private let fadeFrames: Int
  private let residueDecay: Float
  /// The number of frames since the last bad frame, at most `fadeFrames`.
  private let fadePosition: UnsafeMutablePointer<Int>
  private let fade: UnsafeMutablePointer<Float>
  private let last: UnsafeMutablePointer<Float>
  private let residue: UnsafeMutablePointer<Float>
  private let badFrames = Atomic<Int>(0)

  /// Creates a guard that begins without a fade-in.
  ///
  /// - Parameters:
  ///   - channelCount: the number of channels, 1 or more.
  ///   - sampleRate: the sample rate in Hz, above 0.
  ///   - bound: the largest magnitude that passes, default 1e4 (+80 dBFS).
  public init(channelCount: Int, sampleRate: Double, bound: Float = 1e4) {
    precondition(channelCount > 0 && sampleRate > 0 && bound > 0 && bound.isFinite)
    self.channelCount = channelCount
    self.bound = bound
    let length = max(1, Int(sampleRate * 0.005))
    fadeFrames = length
    residueDecay = Float(realtime_exp(-1 / (sampleRate * 0.001)))
    fadePosition = .allocate(capacity: 1)
    fadePosition.initialize(to: length)
    fade = .allocate(capacity: length + 1)
    for i in 0...length {
      (fade + i).initialize(to: raisedCosine(Double(i) / Double(length)))
    }
    last = .allocate(capacity: channelCount)
    last.initialize(repeating: 0, count: channelCount)
    residue = .allocate(capacity: channelCount)
    residue.initialize(repeating: 0, count: channelCount)
  }

  deinit {
    fadePosition.deallocate()
    fade.deallocate()
    last.deallocate()
    residue.deallocate()
  }

  /// The number of bad frames since `init`.
  public var badFrameCount: Int {
    @_noLocks get { badFrames.load(ordering: .relaxed) }
  }

  /// Ends muting or a fade-in at once and forgets the last frame. `badFrameCount` does not change.
  @_noLocks
  public func reset() {
    fadePosition.pointee = fadeFrames
    clearFrames(last, channelCount)
  }

  /// Mutes bad frames, and fades in the frames after them, in place.
  ///
  /// - Parameters:
  ///   - channels: `channelCount` pointers to `frames` samples each.
  ///   - frames: the number of frames.
  @_noLocks
  public func process(
    _ channels: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) {
    guard frames > 0 else { return }
    if fadePosition.pointee == fadeFrames, isClean(channels, frames) {
      for c in 0..<channelCount { last[c] = channels[c][frames - 1] }
      return
    }
    for i in 0..<frames { processFrame(channels, i) }
  }

  @_noLocks
  private func isClean(
    _ channels: UnsafePointer<UnsafeMutablePointer<Float>>, _ frames: Int
  ) -> Bool {
    for c in 0..<channelCount where !Self.isWithin(bound, channels[c], frames: frames) {
      return false
    }
    return true
  }

  /// Returns whether the magnitude of every sample is at most `bound`; false for NaN.
  @_noLocks
  package static func isWithin(
    _ bound: Float, _ samples: UnsafePointer<Float>, frames: Int
  ) -> Bool {
    // Ordered by bit pattern, infinity and NaN are the largest magnitudes.
    let limit = Int32(bitPattern: bound.bitPattern)
    var excess: Int32 = 0
    for i in 0..<frames {
      let magnitude = Int32(bitPattern: samples[i].bitPattern & 0x7fff_ffff)
      excess |= limit &- magnitude
    }
    return excess >= 0
  }

  @_noLocks
  private func processFrame(
    _ channels: UnsafePointer<UnsafeMutablePointer<Float>>, _ i: Int
  ) {
    var isBad = false
    for c in 0..<channelCount where !(abs(channels[c][i]) <= bound) { isBad = true }
    if isBad {
      cut()
    } else {
      fadePosition.pointee = min(fadePosition.pointee + 1, fadeFrames)
    }
    let gain = fade[fadePosition.pointee]
    for c in 0..<channelCount {
      // A bad frame is not multiplied, because NaN times 0 is NaN.
      let sound = isBad ? 0 : channels[c][i] * gain
      let output = gain < 1 ? sound + residue[c] * (1 - gain) : sound
      let faded = residue[c] * residueDecay
      residue[c] = abs(faded) > 1e-12 ? faded : 0
      last[c] = output
      channels[c][i] = output
    }
  }

  /// Counts a bad frame, and starts the decay of the last output sample unless the sound is already
  /// muted.
  @_noLocks
  private func cut() {
    badFrames.wrappingAdd(1, ordering: .relaxed)
    guard fadePosition.pointee > 0 else { return }
    for c in 0..<channelCount { residue[c] = last[c] }
    fadePosition.pointee = 0
  }
}
