// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
private import Glibc
public import Media
public import Rendering

/// A source that decodes one track of a file.
public final class FileSource: SoundSource {
  public let layout: ChannelLayout
  public let title: String?
  public let artist: String?
  public let another: (@Sendable () throws(PlaybackError) -> any SoundSource)?
  private let reader: AudioFileReader
  private let option: LayoutOption
  public let stableIdentity: String?

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: the path of a file that FFmpeg can read.
  ///   - settings: the choice of the track, the interpretation of its channels and the use of its
  ///     level metadata.
  ///   - sampleRate: the rate to resample to, in Hz; nil for the file's own rate.
  ///   - interrupt: a flag that, once raised, makes the source throw `PlaybackError.interrupted`.
  /// - Throws: `PlaybackError.interrupted`, or `.media` if the file or the track cannot be read,
  ///   has no frames or does not fit the settings, or if `sampleRate` is not from 8000 to 384000.
  public init(
    path: String, settings: RenderSettings, sampleRate: Int? = nil,
    interrupt: InterruptFlag? = nil
  ) throws(PlaybackError) {
    do throws(MediaError) {
      reader = try AudioFileReader(
        path: path, track: settings.track, sampleRate: sampleRate,
        dynamicRange: settings.dynamicRange, interrupt: interrupt)
      if reader.isWithoutFrames { throw .noFrames(path: path) }
      layout = try settings.layout.resolve(track: reader.track)
    } catch { throw PlaybackError(error) }
    title = reader.title
    artist = reader.artist
    another = { () throws(PlaybackError) in
      try FileSource(
        path: path, settings: settings, sampleRate: sampleRate, interrupt: interrupt)
    }
    option = settings.layout
    if let file = Self.identity(of: path) {
      stableIdentity =
        "\(file) track \(reader.track.number) as \(layout) of \(settings.layout), "
        + "\(settings.dynamicRange), at \(reader.sampleRate) Hz"
    } else {
      stableIdentity = nil
    }
    reader.followsLayout = reader.track.canChangeChannels
  }

  /// Returns text with a file's absolute path, size and modification time; nil if they cannot be
  /// determined.
  private static func identity(of path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0, let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    let time = status.st_mtim
    return "\(String(cString: real)) \(status.st_size) bytes \(time.tv_sec).\(time.tv_nsec)"
  }

  /// Where `layout` comes from.
  public enum LayoutOrigin: Sendable, Equatable {
    /// The settings name the layout.
    case chosen
    /// The container or the codec states the layout.
    case stated
    /// The layout is mono or stereo, or is assumed from the number of channels.
    case channelCount
  }

  public var layoutOrigin: LayoutOrigin {
    guard option == .auto else { return .chosen }
    if case .unknown = reader.track.layout { return .channelCount }
    // Mono and stereo never count as stated: they need no label, and many files have none.
    return layout.channelCount > 2 ? .stated : .channelCount
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
      // In the middle of a stream, a layout that `resolve` rejects is no error but stays unknown.
      return next == reader.track.layout
        ? layout : (try? LayoutOption.auto.resolve(next)) ?? next
    } catch { throw PlaybackError(error) }
  }

  /// The layouts to expect: `layout` and, if the layout option is `.auto`, the layouts that are
  /// known to occur later in the track. Other layouts may also occur.
  public var expectedLayouts: [ChannelLayout] {
    [layout] + (option == .auto ? reader.track.laterLayouts : [])
  }

  public var isBinaural: Bool {
    option == .binaural || (option == .auto && reader.track.isBinaural)
  }

  public var matrixEncoding: MatrixEncoding? {
    option == .auto && layout == .stereo && !isBinaural ? reader.track.matrixEncoding : nil
  }

  public var multichannelOffer: MultichannelOffer? {
    guard !layout.isMultichannel else { return nil }
    let other = reader.tracks.first {
      $0.isDecodable && !$0.isSupplementary && $0.layout.isMultichannel
    }
    return other.map { .track(number: $0.number, layout: $0.layout) }
  }
}
