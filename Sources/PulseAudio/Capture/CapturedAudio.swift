// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Synchronization

/// Collects the audio that a `MonitorCapture` records. Pass `append` as the capture's receiver.
public final class CapturedAudio: Sendable {
  /// The frames from one call of `append`.
  public struct Fragment: Sendable {
    public let firstFrame: Int
    public let frameCount: Int
    /// The arrival time of the frames, in CLOCK_MONOTONIC nanoseconds.
    public let arrivalTimeNanoseconds: Int64
    /// The capture time of the first frame, in CLOCK_MONOTONIC nanoseconds; nil if unknown.
    public let captureTimeNanoseconds: Int64?
  }

  private struct Content {
    var samples: [Float] = []
    var fragments: [Fragment] = []
  }

  private let content = Mutex(Content())

  public init() {}

  /// The recorded samples, interleaved stereo [frames x 2].
  public var samples: [Float] { content.withLock { $0.samples } }
  public var frameCount: Int { content.withLock { $0.samples.count / 2 } }
  public var fragments: [Fragment] { content.withLock { $0.fragments } }

  public func append(_ interleaved: UnsafeBufferPointer<Float>, _ captureTimeNanoseconds: Int64?) {
    let now = monotonic_nanoseconds()
    content.withLock {
      $0.fragments.append(
        Fragment(
          firstFrame: $0.samples.count / 2, frameCount: interleaved.count / 2,
          arrivalTimeNanoseconds: now, captureTimeNanoseconds: captureTimeNanoseconds))
      $0.samples += interleaved
    }
  }
}
