// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Media

/// Something that supplies sound, frame by frame.
///
/// ## Threading
/// One thread at a time uses it.
public protocol SoundSource: AnyObject {
  /// The layout of the channels that `read` supplies; if `changesLayout`, that of the first frames.
  var layout: ChannelLayout { get }
  /// The sample rate, in Hz.
  var sampleRate: Int { get }
  /// The total number of frames; nil if unknown.
  var duration: Int? { get }
  var title: String? { get }
  /// Problems with the sound read so far, one sentence each.
  var warnings: [String] { get }
  /// Reads channels x frames and returns the number of frames: fewer than requested only before the
  /// end, 0 at the end.
  func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int
  /// Makes `frame` the next one to be read.
  func seek(toFrame frame: Int) throws(PlaybackError)
  /// The loudness that the source states for itself.
  var statedLoudness: StatedLoudness? { get }
  /// Opens the same source again, from its start and for another thread; nil if that is impossible.
  var another: (@Sendable () throws(PlaybackError) -> any SoundSource)? { get }
  /// Whether later frames may have other channels. Such a source is a sequence of runs:
  /// `nextLayout` returns the layout of the next run, and `read` returns 0 at the end of each. A
  /// `ConstantBusSource` plays it. Default: false.
  var changesLayout: Bool { get }
  /// Returns the layout of the frames that `read` supplies next; nil at the end of the source.
  /// Default: `layout`.
  func nextLayout() throws(PlaybackError) -> ChannelLayout?
  /// The number of frames by which the run after `nextLayout` begins before the end of the previous
  /// one, for a crossfade. If negative, that many frames are missing between the two. Default: 0.
  var joint: Int { get }
  /// The longest crossfade between two runs, in frames. `joint` exceeds it only by frames that are
  /// read before the crossfade and not played, for example to settle an upmix. Default: 0.
  var longestOverlap: Int { get }
  /// The layouts to expect, including `layout`; the bus is made for these. Default: only `layout`.
  var expectedLayouts: [ChannelLayout] { get }
  /// Returns the layout of the content at a frame that has been read, whatever layout carries it
  /// here. Default: `layout`.
  func contentLayout(atFrame frame: Int) -> ChannelLayout
  /// Whether the sound was already made for headphones and must not be rendered spatially again.
  /// Default: false.
  var isBinaural: Bool { get }
  /// The matrix encoding of more channels in two; nil if there is none or it is not stated.
  /// Default: nil.
  var matrixEncoding: MatrixEncoding? { get }
  /// How the listener can get the same programme with more channels; nil if that is impossible.
  /// Default: nil.
  var multichannelOffer: MultichannelOffer? { get }
  /// The stream that it reads from, if its sound arrives during playback. Default: nil.
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
  /// Another track of the file has them.
  case track(number: Int, layout: ChannelLayout)
  /// Settings restrict a presentation to stereo.
  case fewerRestrictions
  /// What the listener can do, as a sentence without its final full stop.
  case other(String)

  public var description: String { text(naming: \.rawValue) }

  /// Returns the description with the user's names of settings, such as a program's options.
  package func text(naming name: (NamedSetting) -> String) -> String {
    switch self {
    case .track(let number, let layout):
      "track \(number) of the file is \(layout.name); choose it with \(name(.track)) \(number)"
    case .fewerRestrictions:
      "remove the settings that restrict it to stereo "
        + "(\(name(.preference)), \(name(.maximumBitRate)))"
    case .other(let text): text
    }
  }
}
