// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
import CFFmpeg

/// How to interpret the channels of a track.
public enum LayoutOption: Sendable, Equatable {
  /// The layout that the container states. If it states none, 4, 9, 16, 25, 36, 49 or 64 channels
  /// are a soundfield in ACN order and SN3D scale. With two more channels, the last two are
  /// head-locked stereo (RFC 8486).
  case auto
  /// A first-order soundfield, with or without head-locked stereo.
  case foa
  /// A soundfield of any order from 1 to 7, with or without head-locked stereo.
  case hoa
  /// A soundfield of order 1 to 3 with FuMa channel order and weights.
  case fuMa
  /// Two channels that were made for headphones.
  case binaural
  /// Loudspeakers. `name` is the name that the user gave, in lower case.
  case speakers(name: String, [Speaker])

  /// The accepted names that the help and the messages list. Other layout names of FFmpeg and lists
  /// such as `FL+FR+LFE` are accepted too.
  public static let names =
    ["auto", "foa", "hoa", "fuma", "binaural"] + bedNames

  /// Parses the name of a layout.
  ///
  /// - Parameter text: one of `names` or one of FFmpeg's layout names, both in upper or lower case;
  ///   or a list of FFmpeg's channel names, which must be in upper case.
  /// - Throws: `MediaError.unknownLayout` if `text` is none of these.
  public init(_ text: String) throws(MediaError) {
    switch text.lowercased() {
    case "auto": self = .auto
    case "foa": self = .foa
    case "hoa": self = .hoa
    case "fuma": self = .fuMa
    case "binaural": self = .binaural
    case let name:
      guard let speakers = Self.beds[name] ?? Self.named(text) ?? Self.named(name) else {
        throw .unknownLayout(text)
      }
      self = .speakers(name: name, speakers)
    }
  }

  public var name: String {
    switch self {
    case .auto: "auto"
    case .foa: "foa"
    case .hoa: "hoa"
    case .fuMa: "fuma"
    case .binaural: "binaural"
    case .speakers(let name, _): name
    }
  }

  /// Returns the layout with which to play `track`.
  ///
  /// - Throws: `MediaError.layoutMismatch` if the number of channels does not fit, and
  ///   `MediaError.unlabelledChannels` if `auto` finds neither a label nor an ambisonic number of
  ///   channels.
  public func resolve(track: AudioTrack) throws(MediaError) -> ChannelLayout {
    try resolve(track.layout)
  }

  /// Like `resolve(track:)`, but for channels that are labelled as `layout`.
  public func resolve(_ layout: ChannelLayout) throws(MediaError) -> ChannelLayout {
    let channels = layout.channelCount
    switch self {
    case .auto:
      guard case .unknown = layout else { return layout }
      guard let field = Self.ambisonic(channels, orders: 1...7) else {
        throw .unlabelledChannels(channels)
      }
      return field
    case .foa: return try soundfield(layout, orders: 1...1)
    case .hoa: return try soundfield(layout, orders: 1...7)
    case .fuMa:
      guard let order = CoreAudioLayout.order(channels), (1...3).contains(order) else {
        throw .layoutMismatch(layout: name, accepted: [4, 9, 16], channels: channels)
      }
      return .ambisonics(order: order, convention: .fuMa, headLocked: false)
    case .binaural:
      guard channels == 2 else {
        throw .layoutMismatch(layout: name, accepted: [2], channels: channels)
      }
      return .stereo
    case .speakers(_, let speakers):
      guard speakers.count == channels else {
        throw .layoutMismatch(layout: name, accepted: [speakers.count], channels: channels)
      }
      return Self.sameButForSurrounds(layout, speakers) ? layout : .speakers(speakers)
    }
  }

  /// Returns an ambisonic layout whose order is one of `orders`. Sound that is labelled N3D or FuMa
  /// keeps that convention, because the option only selects the kind of content.
  ///
  /// - Throws: `.layoutMismatch` if the number of channels fits none of `orders`.
  private func soundfield(
    _ layout: ChannelLayout, orders: ClosedRange<Int>
  ) throws(MediaError) -> ChannelLayout {
    if case .ambisonics(let order, _, _) = layout, orders.contains(order) { return layout }
    guard let field = Self.ambisonic(layout.channelCount, orders: orders) else {
      let squares = orders.map { ($0 + 1) * ($0 + 1) }
      throw .layoutMismatch(
        layout: name, accepted: squares.flatMap { [$0, $0 + 2] }, channels: layout.channelCount)
    }
    return field
  }

  private static func ambisonic(_ channels: Int, orders: ClosedRange<Int>) -> ChannelLayout? {
    for (count, headLocked) in [(channels, false), (channels - 2, true)] {
      if let order = CoreAudioLayout.order(count), orders.contains(order) {
        return .ambisonics(order: order, convention: .ambiX, headLocked: headLocked)
      }
    }
    return nil
  }

  /// Whether two layouts are equal if side and back surrounds count as the same. The option `5.1`
  /// therefore also fits a track with side surrounds, and the track keeps its labels.
  private static func sameButForSurrounds(_ layout: ChannelLayout, _ speakers: [Speaker]) -> Bool {
    guard case .speakers(let own) = layout else { return false }
    let sideToBack: [Speaker: Speaker] = [.sideLeft: .backLeft, .sideRight: .backRight]
    return own.map { sideToBack[$0] ?? $0 } == speakers.map { sideToBack[$0] ?? $0 }
      && Set(own.map { sideToBack[$0] ?? $0 }).count == own.count
  }
}

extension LayoutOption {
  private static let bedNames = [
    "mono", "stereo", "2.1", "3.0", "quad", "4.0", "5.0", "5.1", "6.1", "7.1", "5.1.2", "5.1.4",
    "7.1.2", "7.1.4", "9.1.6",
  ]

  /// The loudspeakers of each bed with height channels, by the name of the bed. Loudspeakers are in
  /// the order of FFmpeg's channel numbers, which extends the WAV order. Older versions of FFmpeg
  /// have no names for these beds.
  private static let beds: [String: [Speaker]] = {
    let front: [Speaker] = [.frontLeft, .frontRight, .frontCenter, .lowFrequency]
    let back: [Speaker] = [.backLeft, .backRight]
    let side: [Speaker] = [.sideLeft, .sideRight]
    let wide: [Speaker] = [.wideLeft, .wideRight]
    let topFront: [Speaker] = [.topFrontLeft, .topFrontRight]
    let topBack: [Speaker] = [.topBackLeft, .topBackRight]
    let topSide: [Speaker] = [.topSideLeft, .topSideRight]
    return [
      "5.1.2": front + back + topFront,
      "5.1.4": front + back + topFront + topBack,
      "7.1.2": front + back + side + topFront,
      "7.1.4": front + back + side + topFront + topBack,
      "9.1.6": front + back + side + topFront + topBack + wide + topSide,
    ]
  }()

  /// Returns the loudspeakers of a layout name or list of channel names that FFmpeg knows. Returns
  /// nil if FFmpeg does not know `text` or if the layout does not consist of loudspeakers.
  private static func named(_ text: String) -> [Speaker]? {
    var layout = AVChannelLayout()
    defer { av_channel_layout_uninit(&layout) }
    guard av_channel_layout_from_string(&layout, text) >= 0,
      layout.order == AV_CHANNEL_ORDER_NATIVE || layout.order == AV_CHANNEL_ORDER_CUSTOM,
      case .speakers(let speakers) = ChannelLayout(layout)
    else { return nil }
    return speakers
  }
}
