// SPDX-License-Identifier: Apache-2.0

/// Filters two channels with the same taps, without latency. A filter without taps leaves the
/// channels unchanged.
///
/// ## Threading
/// Use a filter from one thread at a time. `process` does not allocate, lock or wait.
public enum StereoFilter: ~Copyable, Sendable {
  case none
  case taps(PartitionedConvolver)

  /// Creates a filter from its impulse response.
  ///
  /// - Parameters:
  ///   - taps: the impulse response; nil or empty for no filter.
  ///   - partition: the shortest partition of `PartitionedConvolver`, in frames; a power of two, at
  ///     least 16.
  public init(_ taps: [Float]?, partition: Int) {
    guard let taps, !taps.isEmpty else {
      self = .none
      return
    }
    self = .taps(
      PartitionedConvolver(left: [taps, [0]], right: [[0], taps], partition: partition))
  }

  /// The number of output frames after the end of the input.
  public var tailFrames: Int {
    switch self {
    case .none: 0
    case .taps(let convolver): convolver.taps - 1
    }
  }

  /// Forgets all previous input.
  @_noLocks
  public func reset() {
    switch self {
    case .none: break
    case .taps(let convolver): convolver.reset()
    }
  }

  /// Filters two channels in place.
  @_noLocks
  public func process(
    _ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>, frames: Int
  ) {
    switch self {
    case .none: break
    case .taps(let convolver):
      // In-place use is safe: the convolver reads all input of a call before it writes any output.
      let stride = right - left
      var done = 0
      while done < frames {
        let count = min(convolver.framesToBorder, frames - done)
        convolver.process(
          input: left + done, stride: stride, frames: count, left: left + done,
          right: right + done)
        done += count
      }
    }
  }
}
