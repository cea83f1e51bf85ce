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
  /// Whether later frames may have other channels. Such a source is a row of runs: `nextLayout` tells
  /// the channels of the next one, and `read` gives 0 at the end of each. It is played through a
  /// `ConstantBusSource`. Default: false.
  var changesLayout: Bool { get }
  /// What the channels of the frames are that `read` gives next; nil at the end of all. Default:
  /// `layout`.
  func nextLayout() throws(PlaybackError) -> ChannelLayout?
  /// By how many frames the run that `nextLayout` told of begins before the end of the one before it,
  /// so that it can be faded over; negative: so many frames are missing between them. Default: 0.
  var joint: Int { get }
  /// No run overlaps by more, but for what only has to be heard in advance to know it. Default: 0.
  var longestOverlap: Int { get }
  /// The layouts to be reckoned with, `layout` among them; the bus is made for these. Default: that one.
  var expectedLayouts: [ChannelLayout] { get }
  /// The channels of the content at a frame that has been read, whatever carries it here. Default:
  /// `layout`.
  func contentLayout(atFrame frame: Int) -> ChannelLayout
  /// Whether it was made for headphones already, and is not to be made spatial twice. Default: false.
  var isBinaural: Bool { get }
  /// How more channels were folded into the two that there are; nil: not, or not told. Default: nil.
  var matrixEncoding: MatrixEncoding? { get }
  /// How the listener gets the same programme in more channels, a sentence without its end; nil: it is
  /// not to be had. Default: nil.
  var multichannelOffer: String? { get }
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
  public var multichannelOffer: String? { nil }
}

/// An audio file.
public final class FileSource: SoundSource {
  public let layout: ChannelLayout
  public let title: String?
  public let another: (@Sendable () throws(PlaybackError) -> any SoundSource)?
  private let reader: AudioFileReader
  private let option: LayoutOption

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
    option = settings.layout
    reader.followsLayout = reader.track.canChangeChannels
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

  public var changesLayout: Bool { reader.followsLayout }

  public func nextLayout() throws(PlaybackError) -> ChannelLayout? {
    do throws(MediaError) {
      guard let next = try reader.nextLayout() else { return nil }
      // Layouts without a name in the middle of a stream are no error: its first one was clear.
      return next == reader.track.layout
        ? layout : (try? LayoutOption.auto.resolve(next)) ?? next
    } catch { throw PlaybackError(error) }
  }

  /// A layout that was asked for is the only one.
  public var expectedLayouts: [ChannelLayout] {
    [layout] + (option == .auto ? reader.track.laterLayouts : [])
  }

  public var isBinaural: Bool {
    option == .binaural || (option == .auto && reader.track.isBinaural)
  }

  public var matrixEncoding: MatrixEncoding? {
    option == .auto && layout == .stereo && !isBinaural ? reader.track.matrixEncoding : nil
  }

  public var multichannelOffer: String? {
    guard !layout.isMultichannel else { return nil }
    let other = reader.tracks.first {
      $0.isDecodable && !$0.isSupplementary && $0.layout.isMultichannel
    }
    return other.map {
      "track \($0.number) of the file is \($0.layout.name), take --track \($0.number)"
    }
  }
}
