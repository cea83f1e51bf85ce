// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Media

/// Something that gives sound, frame after frame.
///
/// ## Threading
/// Used by one thread at a time.
public protocol SoundSource: AnyObject {
  /// What the channels are that `read` gives; of the first frames where `changesLayout`.
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
  /// Whether later frames may have other channels. Such a source is a row of runs: `nextLayout`
  /// tells the channels of the next one, and `read` gives 0 at the end of each. It is played
  /// through a `ConstantBusSource`. Default: false.
  var changesLayout: Bool { get }
  /// What the channels of the frames are that `read` gives next; nil at the end of all. Default:
  /// `layout`.
  func nextLayout() throws(PlaybackError) -> ChannelLayout?
  /// By how many frames the run that `nextLayout` told of begins before the end of the one before
  /// it, so that it can be faded over; negative: so many frames are missing between them. Default:
  /// 0.
  var joint: Int { get }
  /// No run overlaps by more, but for what only has to be heard in advance to know it. Default: 0.
  var longestOverlap: Int { get }
  /// The layouts to be reckoned with, `layout` among them; the bus is made for these. Default: that
  /// one.
  var expectedLayouts: [ChannelLayout] { get }
  /// The channels of the content at a frame that has been read, whatever carries it here. Default:
  /// `layout`.
  func contentLayout(atFrame frame: Int) -> ChannelLayout
  /// Whether it was made for headphones already, and is not to be made spatial twice. Default:
  /// false.
  var isBinaural: Bool { get }
  /// How more channels were folded into the two that there are; nil: not, or not told. Default:
  /// nil.
  var matrixEncoding: MatrixEncoding? { get }
  /// How the listener gets the same programme in more channels; nil: it is not to be had. Default:
  /// nil.
  var multichannelOffer: MultichannelOffer? { get }
  /// The stream that it reads from, where its sound comes while it is played. Default: nil.
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

/// How a listener gets a programme in more channels than are played.
public enum MultichannelOffer: Sendable, Equatable, CustomStringConvertible {
  /// Another track of the file has them.
  case track(number: Int, layout: ChannelLayout)
  /// Settings keep a presentation to stereo.
  case fewerRestrictions
  /// What the listener can do, a sentence without its end.
  case other(String)

  public var description: String { text(naming: \.rawValue) }

  /// The description with the user's own names of settings, such as a program's options.
  package func text(naming name: (NamedSetting) -> String) -> String {
    switch self {
    case .track(let number, let layout):
      "track \(number) of the file is \(layout.name), take \(name(.track)) \(number)"
    case .fewerRestrictions:
      "leave out what keeps it to stereo (\(name(.preference)), \(name(.maximumBitRate)))"
    case .other(let text): text
    }
  }
}
