// SPDX-License-Identifier: Apache-2.0

public import Ambisonics

/// The rate and the channels that a recorder delivers, which stay the same from the start of a
/// recording to its end.
public struct RecorderFormat: Sendable, Equatable {
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

  /// Takes facts about the second of sound that is being appended.
  func annotate(_ note: RecordingNote)

  /// The time for which there is still room, for example on a disk [s]; nil if unknown.
  var secondsLeft: Double? { get }

  /// Stores what is still in memory. Called when no frames will follow for a while.
  func flush() throws

  /// Completes the recording. Nothing is appended afterwards. `finish` is also called after
  /// `append` has thrown an error.
  func finish() throws
}

extension RecordingSink {
  public func annotate(_ note: RecordingNote) {}
  public var secondsLeft: Double? { nil }
  public func flush() {}
}
