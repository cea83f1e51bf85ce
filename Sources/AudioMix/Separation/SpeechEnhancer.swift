// SPDX-License-Identifier: Apache-2.0

/// A program or model that attenuates everything but speech in one channel of sound at 48 kHz.
///
/// ## Threading
/// A separator calls its enhancer on the thread that calls the separator's `process` or `reset`.
public protocol SpeechEnhancer: AnyObject {
  /// Replaces the next samples of the stream with enhanced samples.
  ///
  /// The output is delayed by `speechEnhancerDelayFrames`. The call may wait. After a failure, the
  /// output is silence.
  ///
  /// - Parameters:
  ///   - samples: `frames` samples.
  ///   - frames: the number of samples, 1 or more.
  func enhance(_ samples: UnsafeMutablePointer<Float>, frames: Int)

  /// Discards all earlier samples, so that a new stream can start.
  func reset()
}

/// The delay of a `SpeechEnhancer`, in frames at 48 kHz.
public let speechEnhancerDelayFrames = 2048

/// The files of DeepFilterNet that the neural separator needs.
public struct NeuralSeparatorFiles: Sendable, Equatable {
  /// The path of `libdeepfilter.so`.
  public var library: String
  /// The path of the model, a `.tar.gz` file of DeepFilterNet 3.
  public var model: String

  public init(library: String, model: String) {
    (self.library, self.model) = (library, model)
  }
}
