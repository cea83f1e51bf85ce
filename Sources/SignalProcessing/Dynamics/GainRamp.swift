// SPDX-License-Identifier: Apache-2.0

internal import CRealtime
internal import Synchronization

/// A gain that follows its target in raised-cosine ramps of a fixed length.
///
/// The gain starts at 0. At a gain of 1, samples pass unchanged. The ramp to a new target begins at
/// the next call of `process`.
///
/// ## Threading
/// Any thread may read and set `targetGain`. Use all other members from one thread at a time; they
/// are wait-free.
public struct GainRamp: ~Copyable, @unchecked Sendable {
  /// The state of a ramp.
  public struct State: BitwiseCopyable, Sendable {
    var start: Float
    var end: Float
    /// The number of frames since the start of the ramp, at most `rampFrames`.
    var position: Int
  }

  /// The length of a ramp, in frames.
  public let rampFrames: Int

  private let target: Atomic<UInt32>
  private let shape: UnsafeMutablePointer<Float>
  private let current: UnsafeMutablePointer<State>

  /// Creates a ramp from 0 to the first target.
  ///
  /// - Parameters:
  ///   - sampleRate: the sample rate in Hz, above 0.
  ///   - rampMilliseconds: the length of a ramp in ms, above 0.
  ///   - targetGain: the first target, a linear gain of 0 or more.
  public init(sampleRate: Double, rampMilliseconds: Double = 50, targetGain: Float = 1) {
    precondition(sampleRate > 0 && rampMilliseconds > 0 && targetGain >= 0 && targetGain.isFinite)
    let length = max(1, Int((sampleRate * rampMilliseconds / 1_000).rounded()))
    rampFrames = length
    target = Atomic(targetGain.bitPattern)
    shape = .allocate(capacity: length + 1)
    for i in 0...length {
      (shape + i).initialize(to: raisedCosine(Double(i) / Double(length)))
    }
    current = .allocate(capacity: 1)
    current.initialize(to: State(start: 0, end: targetGain, position: 0))
  }

  deinit {
    shape.deallocate()
    current.deallocate()
  }

  /// The linear gain to approach, finite and 0 or more. Other values are ignored.
  public var targetGain: Float {
    @_noLocks get { Float(bitPattern: target.load(ordering: .relaxed)) }
    @_noLocks nonmutating set {
      guard newValue >= 0, newValue < .infinity else { return }
      target.store(newValue.bitPattern, ordering: .relaxed)
    }
  }

  /// The current ramp. To return to an earlier state, set a value that was read earlier.
  public var state: State {
    @_noLocks get { current.pointee }
    @_noLocks nonmutating set { current.pointee = newValue }
  }

  /// Whether the ramp to the target has ended.
  public var isSettled: Bool {
    @_noLocks get {
      let ramp = current.pointee
      guard ramp.end == targetGain else { return false }
      return ramp.position == rampFrames
    }
  }

  /// Whether the target is above 0 or the ramp to 0 has not ended.
  public var isAudible: Bool {
    @_noLocks get {
      if targetGain != 0 { return true }
      return !isSettled
    }
  }

  /// Whether the gain and its target are 0.
  public var isSilent: Bool {
    @_noLocks get {
      if targetGain != 0 { return false }
      let ramp = current.pointee
      return gain(ramp, at: ramp.position) == 0
    }
  }

  /// Sets the gain to the target at once.
  @_noLocks
  public func settle() {
    current.pointee = State(start: targetGain, end: targetGain, position: rampFrames)
  }

  /// Restarts the ramp from 0 towards the target.
  @_noLocks
  public func restart() {
    current.pointee = State(start: 0, end: targetGain, position: 0)
  }

  /// Applies the gain in place.
  ///
  /// - Parameters:
  ///   - channels: `channelCount` pointers to `frames` samples each.
  ///   - channelCount: the number of pointers.
  ///   - frames: the number of frames.
  @_noLocks
  public func process(
    _ channels: UnsafePointer<UnsafeMutablePointer<Float>>, channelCount: Int, frames: Int
  ) {
    retarget()
    let from = current.pointee
    let ramped = min(rampFrames - from.position, frames)
    for c in 0..<channelCount {
      let samples = channels[c]
      for i in 0..<ramped { samples[i] *= gain(from, at: from.position + i + 1) }
      guard from.end != 1 else { continue }
      for i in ramped..<frames { samples[i] *= from.end }
    }
    current.pointee.position = from.position + ramped
  }

  @_noLocks
  private func gain(_ ramp: State, at position: Int) -> Float {
    if position == rampFrames { return ramp.end }
    return ramp.start + (ramp.end - ramp.start) * shape[position]
  }

  @_noLocks
  private func retarget() {
    let wanted = targetGain
    let ramp = current.pointee
    guard wanted != ramp.end else { return }
    current.pointee = State(start: gain(ramp, at: ramp.position), end: wanted, position: 0)
  }
}

/// Returns the value of a raised cosine that rises from 0 to 1 for fractions from 0 to 1. Other
/// fractions are clamped.
@_noLocks
package func raisedCosine(_ fraction: Double) -> Float {
  if fraction <= 0 { return 0 }
  if fraction >= 1 { return 1 }
  return Float(0.5 - 0.5 * realtime_cos(.pi * fraction))
}
