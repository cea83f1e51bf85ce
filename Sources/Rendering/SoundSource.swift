// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Media

/// A supplier of sound, such as a file or a playlist.
///
/// ## Threading
/// Use a source from one thread at a time.
public protocol SoundSource: AnyObject {
  /// The layout of the channels that `read` supplies. If `changesLayout` is true, this is the
  /// layout of the first frames.
  var layout: ChannelLayout { get }
  /// The sample rate, in Hz.
  var sampleRate: Int { get }
  /// The total number of frames; nil if unknown.
  var duration: Int? { get }
  var title: String? { get }
  /// The problems in the sound read so far, one sentence each.
  var warnings: [String] { get }
  /// Reads the next frames, channels x frames.
  ///
  /// - Returns: the number of frames read; 0 at the end of the source or of a run. The number may
  ///   be less than `frames` just before the end and, if `changesLayout` is true, anywhere.
  /// - Throws: `PlaybackError` if reading fails or is interrupted.
  func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int
  /// Makes `frame` the next frame that `read` returns.
  func seek(toFrame frame: Int) throws(PlaybackError)
  /// The loudness that the source states for itself, for example in its metadata; nil if it states
  /// none. Default: nil.
  var statedLoudness: StatedLoudness? { get }
  /// A function that opens the same source again at its start, for use on another thread; nil if
  /// that is impossible. Default: nil.
  var another: (@Sendable () throws(PlaybackError) -> any SoundSource)? { get }
  /// Whether later frames may have a different layout. Such a source is a sequence of runs, each
  /// with one layout: `nextLayout` returns the layout of the next run, and `read` returns 0 at the
  /// end of each run. `ConstantBusSource` converts it to one layout for playback. Default: false.
  var changesLayout: Bool { get }
  /// Returns the layout of the frames that `read` supplies next; nil at the end of the source.
  /// Default: `layout`.
  func nextLayout() throws(PlaybackError) -> ChannelLayout?
  /// The number of frames by which the run that `nextLayout` announced overlaps the end of the
  /// previous run, for a crossfade. If the number is negative, its magnitude is the number of
  /// frames that are missing between the two runs. Default: 0.
  var joint: Int { get }
  /// The longest crossfade between two runs, in frames. If `joint` is larger, the excess frames are
  /// read before the crossfade but not played, for example to let an upmix settle. Default: 0.
  var longestOverlap: Int { get }
  /// The layouts that runs are expected to have, including `layout`. `ConstantBusSource` chooses
  /// its bus for these. Default: `layout` alone.
  var expectedLayouts: [ChannelLayout] { get }
  /// Returns the layout of the original content at a frame that has been read, or at frame 0. It
  /// differs from `layout` if the content has been converted, for example by an upmix. Default:
  /// `layout`.
  func contentLayout(atFrame frame: Int) -> ChannelLayout
  /// Whether the sound was already made for headphones and must not be rendered spatially again.
  /// Default: false.
  var isBinaural: Bool { get }
  /// The matrix encoding that lets the two channels carry additional ones; nil if there is none or
  /// the source does not state it. Default: nil.
  var matrixEncoding: MatrixEncoding? { get }
  /// How the listener can get the same programme with more channels; nil if no such way is known or
  /// needed. Default: nil.
  var multichannelOffer: MultichannelOffer? { get }
  /// The stream that the source reads from, if the sound arrives during playback; otherwise nil.
  /// Default: nil.
  var stream: (any StreamedSource)? { get }
}

extension SoundSource {
  public var statedLoudness: StatedLoudness? { nil }
  public var another: (@Sendable () throws(PlaybackError) -> any SoundSource)? { nil }
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

/// How a listener can get a programme with more channels than are playing.
public enum MultichannelOffer: Sendable, Equatable, CustomStringConvertible {
  /// Another track of the file has more channels.
  case track(number: Int, layout: ChannelLayout)
  /// Settings restrict a presentation to stereo.
  case fewerRestrictions
  /// Something else that the listener can do, as a sentence without the final full stop.
  case other(String)

  public var description: String { text(naming: \.rawValue) }

  /// Returns the description, in which settings have the names that the user knows, such as the
  /// names of command-line options.
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
