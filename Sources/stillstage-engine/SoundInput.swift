// SPDX-License-Identifier: Apache-2.0

import CRealtime
import CommandOptions
import Glibc
import HLS
import Media
import Playback

/// What `play` and `render` are given: an audio file, or an HLS presentation on a server, as a playlist
/// or in a folder.
struct SoundInput {
  private enum Kind {
    case file(String)
    case presentation(OpenPresentation)
  }

  private let kind: Kind
  private let settings: RenderSettings
  /// The tier follows the line; otherwise it is the best one always.
  private let follows: Bool
  private let keeper: PresentationKeeper?

  /// Looks what it is, and opens a presentation's playlists; a file that cannot be read is told of here.
  init(
    _ command: ParsedCommand, _ settings: RenderSettings, follows: Bool
  ) throws(CommandFailure) {
    let argument = command[Arguments.input]
    self.settings = settings
    self.follows = follows
    guard let place = try Self.presentation(argument, root: command[Options.root]) else {
      let path = try Self.file(argument)
      if follows, command[Options.keep] != nil {
        throw CommandFailure("--keep keeps presentations; '\(argument)' is a file")
      }
      kind = .file(path)
      keeper = nil
      _ = try playing { () throws(PlaybackError) in
        try FileSource(path: path, settings: settings, interrupt: Signals.interrupt)
      }
      return
    }
    kind = .presentation(try Self.open(place, command, settings))
    keeper = follows ? try Self.keeper(command, place) : nil
  }

  /// Opens it, at a rate in Hz; nil for its own.
  func open(_ rate: Int?) throws(PlaybackError) -> any SoundSource {
    switch kind {
    case .file(let path):
      return try FileSource(
        path: path, settings: settings, sampleRate: rate, interrupt: Signals.interrupt)
    case .presentation(let presentation):
      let source = try stream(presentation, rate, keeper: keeper)
      guard !presentation.isRemote else { return source }
      source.another = { [self] () throws(PlaybackError) in
        try stream(presentation, rate, keeper: nil)
      }
      return source
    }
  }

  /// All has been played: what is kept is brought up to date.
  func finish() {
    if let problem = keeper?.finish() ?? keeper?.problem { printNote(problem.description) }
  }

  private func stream(
    _ presentation: OpenPresentation, _ rate: Int?, keeper: PresentationKeeper?
  ) throws(PlaybackError) -> HLSSource {
    let isFollowing = follows && presentation.isRemote
    let ladder = presentation.ladder
    let supply = SegmentSupply(
      presentation, clock: Self.clock, pause: Self.pause,
      observer: keeper.map { Self.observer(presentation, $0) },
      rule: {
        if isFollowing { return RenditionChoice(ladder: ladder) }
        return FixedTier(ladder.tiers.count - 1)
      })
    return try HLSSource(
      supply, settings: settings, sampleRate: rate, interrupt: Signals.interrupt)
  }

  private static let clock: SegmentSupply.Clock = { Double(monotonic_nanoseconds()) * 1e-9 }
  private static let pause: SegmentSupply.Pause = { usleep(useconds_t(min($0, 1) * 1e6)) }

  private static func observer(
    _ presentation: OpenPresentation, _ keeper: PresentationKeeper
  ) -> SegmentSupply.Observer {
    { arrival in
      let rendition = presentation.renditions[arrival.tier]
      let map = arrival.supplied.initialisation
      keeper.follow(arrival.playlist, of: rendition)
      keeper.keep(
        arrival.segment, body: arrival.supplied.bytes, map: map.isEmpty ? nil : map, of: rendition)
    }
  }

  // MARK: What it is

  private static func presentation(
    _ argument: String, root: String?
  ) throws(CommandFailure) -> PresentationPlace? {
    let lower = argument.lowercased()
    let isAddress = lower.hasPrefix("http://") || lower.hasPrefix("https://")
    guard isAddress || isFolder(argument) || isPlaylist(argument) else { return nil }
    let place = try PresentationPlace(argument, root: root)
    let isEmpty = place.isFolder && place.folder?.playlists.isEmpty == true
    return isEmpty && singleFile(in: place.folder) != nil ? nil : place
  }

  /// The path of a file; of a folder that holds nothing but one file to be heard, of that one.
  private static func file(_ argument: String) throws(CommandFailure) -> String {
    guard isFolder(argument) else {
      guard argument.lowercased().hasPrefix("file:"),
        case .file(let path)? = ResourceAddress(argument: argument, in: "/")
      else { return argument }
      return path
    }
    return singleFile(in: PresentationFolder(argument)) ?? argument
  }

  private static func singleFile(in folder: PresentationFolder?) -> String? {
    folder.flatMap { $0.paths.count == 1 ? $0.paths.first : nil }
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Whether a file is one by its name or its first line.
  private static func isPlaylist(_ argument: String) -> Bool {
    let isURL = argument.lowercased().hasPrefix("file:")
    guard let address = isURL ? ResourceAddress(argument: argument, in: "/") : .file(argument),
      case .file(let path) = address
    else { return false }
    let lower = path.lowercased()
    if lower.hasSuffix(".m3u8") || lower.hasSuffix(".m3u") { return true }
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
    let descriptor = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 7)
    return read(descriptor, &bytes, 7) == 7 && bytes == Array("#EXTM3U".utf8)
  }

  // MARK: Presentations

  private static func open(
    _ place: PresentationPlace, _ command: ParsedCommand, _ settings: RenderSettings
  ) throws(CommandFailure) -> OpenPresentation {
    var wishes = TierWishes()
    wishes.language = command[Options.language]
    wishes.maximumBitRate = command[Options.maxBitrate] ?? .infinity
    wishes.preference = TreatmentPreference(command[Options.preferTreatment])
    let goesOn = { Signals.received == nil }
    do throws(PresentationError) {
      let loader = PlaylistLoader(place.fetcher, folder: place.folder)
      return try OpenPresentation(
        place.open(loader, goesOn: goesOn), loader: loader, fetcher: place.direct, wishes: wishes,
        describe: { segment in
          TierDescription(of: segment, settings: settings, interrupt: Signals.interrupt)
        }, goesOn: goesOn)
    } catch {
      if Signals.received != nil { throw .interrupted }
      throw CommandFailure(error.description.withoutControls)
    }
  }

  private static func keeper(
    _ command: ParsedCommand, _ place: PresentationPlace
  ) throws(CommandFailure) -> PresentationKeeper? {
    guard let folder = command[Options.keep] else { return nil }
    do throws(KeepingError) {
      return try PresentationKeeper(folder: folder, source: place.address.description)
    } catch { throw CommandFailure(error.description) }
  }
}
