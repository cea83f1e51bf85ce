// SPDX-License-Identifier: Apache-2.0

public import Ambisonics

/// The rate and the channels of a recording.
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
/// The recorder makes one call at a time.
public protocol RecordingSink: AnyObject {
  /// Appends frames.
  ///
  /// - Parameters:
  ///   - planes: channels x frames; valid during the call.
  ///   - frames: the number of frames, 1 or more.
  /// - Throws: an error that ends the recording.
  func append(
    _ planes: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws

  /// Receives a note about the latest second of sound. The next call of `append` delivers the end
  /// of that second.
  func annotate(_ note: RecordingNote)

  /// The duration of sound for which there is still space [s]; nil if it is unknown.
  var secondsLeft: Double? { get }

  /// Writes the frames that are still in memory. The recorder calls this at the start of a pause.
  func flush() throws

  /// Completes the recording. The recorder calls this even if `append` has thrown an error.
  func finish() throws
}

extension RecordingSink {
  public func annotate(_ note: RecordingNote) {}
  public var secondsLeft: Double? { nil }
  public func flush() {}
}
