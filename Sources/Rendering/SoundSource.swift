// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Media

/// A supplier of sound, such as a file or a playlist.
///
/// ## Threading
/// Use a source from one thread at a time.
public protocol SoundSource: AnyObject {
  /// The layout of the channels that `read` supplies. If `changesLayout` is true, this is the first
  /// layout.
  var layout: ChannelLayout { get }
  /// The sample rate, in Hz.
  var sampleRate: Int { get }
  /// The total number of frames; nil if unknown.
  var duration: Int? { get }
  var title: String? { get }
  /// The problems found so far, one sentence each.
  var warnings: [String] { get }
  /// Reads the next frames, channels x frames.
  ///
  /// - Returns: the number of frames read; 0 at the end of the source or of a run. Unless
  ///   `changesLayout` is true, the number is less than `frames` only near the end.
  /// - Throws: `PlaybackError` if reading fails or is interrupted.
  func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int
  /// Makes `frame` the first frame of the next `read`.
  func seek(toFrame frame: Int) throws(PlaybackError)
  /// The loudness that the source states; nil if it states none. Default: nil.
  var statedLoudness: StatedLoudness? { get }
  /// A function that opens the same source again at its start, for use on another thread; nil if
  /// the source does not support this. Default: nil.
  var another: (@Sendable () throws(PlaybackError) -> any SoundSource)? { get }
  /// A key for stored measurements, which identifies the content of the source and how the source
  /// is read; nil if there is none. Default: nil.
  var stableIdentity: String? { get }
  /// Whether later frames may have a different layout. If true, the source is a sequence of runs,
  /// each with one layout. Default: false.
  var changesLayout: Bool { get }
  /// Returns the layout of the next frames; nil at the end of the source. If a run has ended,
  /// begins the next run. Default: `layout`.
  ///
  /// If `changesLayout` is true, call this function before the first `read`, after each `read` that
  /// returns 0 and after each `seek`.
  func nextLayout() throws(PlaybackError) -> ChannelLayout?
  /// The number of frames by which the run announced by `nextLayout` overlaps the previous run. If
  /// frames are missing between the runs, the value is their negated number. Default: 0.
  var joint: Int { get }
  /// The longest crossfade between two runs, in frames. Default: 0.
  var longestOverlap: Int { get }
  /// The layouts that runs are expected to have, including `layout`. Default: `layout` alone.
  var expectedLayouts: [ChannelLayout] { get }
  /// Returns the content's layout at a frame, before any conversion. The frame must be 0 or have
  /// been read. Default: `layout`.
  func contentLayout(atFrame frame: Int) -> ChannelLayout
  /// Whether the sound was made for headphones. Such sound is not rendered spatially. Default:
  /// false.
  var isBinaural: Bool { get }
  /// The matrix encoding to decode in a stereo source; nil for none. Default: nil.
  var matrixEncoding: MatrixEncoding? { get }
  /// How the listener can get more channels; nil if no way is known or needed. Default: nil.
  var multichannelOffer: MultichannelOffer? { get }
  /// The stream that supplies the sound during playback; nil if there is none. Default: nil.
  var stream: (any StreamedSource)? { get }
}

extension SoundSource {
  public var statedLoudness: StatedLoudness? { nil }
  public var another: (@Sendable () throws(PlaybackError) -> any SoundSource)? { nil }
  public var stableIdentity: String? { nil }
  public var changesLayout: Bool { false }
  public func nextLayout() throws(PlaybackError) -> ChannelLayout? { layout }
  public var joint: Int { 0 }
  public var longestOverlap: Int { 0 }
  public var expectedLayouts: [ChannelLayout] { [layout] }
  public func contentLayout(atFrame frame: Int) -> ChannelLayout { layout }
  public var isBinaural: Bool { false }
  public var matrixEncoding: MatrixEncoding? { nil }
  public var multichannelOffer: MultichannelOffer? { nil }
  public var stream: (any StreamedSource)? { nil }
}

/// A way in which the listener can get more channels.
public enum MultichannelOffer: Sendable, Equatable, CustomStringConvertible {
  /// Another track of the file has more channels.
  case track(number: Int, layout: ChannelLayout)
  /// Settings restrict a presentation to stereo.
  case fewerRestrictions
  /// Another way, as a sentence without the final full stop.
  case other(String)

  public var description: String { text(naming: \.rawValue) }

  /// Returns the description, in which `name` supplies the names of settings.
  package func text(naming name: (NamedSetting) -> String) -> String {
    switch self {
    case .track(let number, let layout):
      "track \(number) of the file has the layout \(layout.name); "
        + "choose it with \(name(.track)) \(number)"
    case .fewerRestrictions:
      "remove the settings that restrict the presentation to stereo "
        + "(\(name(.preference)), \(name(.maximumBitRate)))"
    case .other(let text): text
    }
  }
}
