// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Media

/// Something that gives sound, frame after frame.
///
/// ## Threading
/// Used by one thread at a time.
public protocol SoundSource: AnyObject {
  var layout: ChannelLayout { get }
  /// Hz.
  var sampleRate: Int { get }
  /// Frames in all; nil where that is not known.
  var duration: Int? { get }
  var title: String? { get }
  /// What was wrong with what has been read, a sentence each.
  var warnings: [String] { get }
  /// Reads channels x frames; fewer frames only before the end, 0 at the end.
  func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int
  /// Makes `frame` the next one read.
  func seek(toFrame frame: Int) throws(PlaybackError)
  /// What the source says of its own loudness.
  var statedLoudness: StatedLoudness? { get }
  /// Opens the same source once more, from its start and for another thread; nil where that cannot
  /// be done.
  var another: (@Sendable () throws(PlaybackError) -> any SoundSource)? { get }
}

extension SoundSource {
  public var statedLoudness: StatedLoudness? { nil }
  public var another: (@Sendable () throws(PlaybackError) -> any SoundSource)? { nil }
}

/// An audio file.
public final class FileSource: SoundSource {
  public let layout: ChannelLayout
  public let title: String?
  public let another: (@Sendable () throws(PlaybackError) -> any SoundSource)?
  private let reader: AudioFileReader

  /// - Parameters:
  ///   - path: any file that FFmpeg reads.
  ///   - settings: which track, and how its channels are read.
  ///   - sampleRate: to be resampled to, Hz; nil for the file's own.
  ///   - interrupt: makes every call give up.
  public init(
    path: String, settings: RenderSettings, sampleRate: Int? = nil,
    interrupt: InterruptFlag? = nil
  ) throws(PlaybackError) {
    do throws(MediaError) {
      reader = try AudioFileReader(
        path: path, track: settings.track, sampleRate: sampleRate,
        dynamicRange: settings.dynamicRange, interrupt: interrupt)
      layout = try settings.layout.resolve(track: reader.track)
    } catch { throw PlaybackError(error) }
    title = reader.title
    another = { () throws(PlaybackError) in
      try FileSource(
        path: path, settings: settings, sampleRate: sampleRate, interrupt: interrupt)
    }
  }

  public var statedLoudness: StatedLoudness? { reader.statedLoudness }

  public var sampleRate: Int { reader.sampleRate }
  public var duration: Int? { reader.duration }
  public var warnings: [String] { reader.warnings.map(\.description) }

  public func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    do throws(MediaError) {
      return try reader.read(into: planes, frames: frames)
    } catch { throw PlaybackError(error) }
  }

  public func seek(toFrame frame: Int) throws(PlaybackError) {
    do throws(MediaError) {
      try reader.seek(toFrame: frame)
    } catch { throw PlaybackError(error) }
  }
}
