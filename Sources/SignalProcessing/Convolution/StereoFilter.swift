// SPDX-License-Identifier: Apache-2.0

/// The same filter for two channels, without latency; or none, which costs nothing.
///
/// ## Threading
/// One caller at a time. `process` does not allocate, lock or wait.
public enum StereoFilter: ~Copyable, Sendable {
  case none
  case taps(PartitionedConvolver)

  /// - Parameters:
  ///   - taps: nil or empty for none.
  ///   - partition: see `PartitionedConvolver`.
  public init(_ taps: [Float]?, partition: Int) {
    guard let taps, !taps.isEmpty else {
      self = .none
      return
    }
    self = .taps(
      PartitionedConvolver(left: [taps, [0]], right: [[0], taps], partition: partition))
  }

  /// Frames that the output goes on after the input has ended.
  public var tailFrames: Int {
    switch self {
    case .none: 0
    case .taps(let convolver): convolver.taps - 1
    }
  }

  /// Forgets what has been played.
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
      // The convolver takes all of a piece in before it gives any of it out.
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
