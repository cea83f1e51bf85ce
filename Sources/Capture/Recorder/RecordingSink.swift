// SPDX-License-Identifier: Apache-2.0

public import Ambisonics

/// The form of a recording, which stays the same from its start to its end.
public struct RecordingFormat: Sendable, Equatable {
  /// The sample rate [Hz].
  public let sampleRate: Int
  public let layout: ChannelLayout
  public var channelCount: Int { layout.channelCount }

  public init(sampleRate: Int, layout: ChannelLayout) {
    (self.sampleRate, self.layout) = (sampleRate, layout)
  }
}

/// A destination for recorded frames, such as a file.
///
/// ## Threading
/// The recorder calls it on its writing thread, one call at a time.
public protocol RecordingSink: AnyObject {
  /// Appends frames.
  ///
  /// - Parameters:
  ///   - planes: one plane per channel; valid during the call.
  ///   - frames: the number of frames, 1 or more.
  /// - Throws: an error that ends the recording.
  func append(
    _ planes: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws

  /// Completes the recording. Nothing is appended afterwards.
  func finish() throws
}
