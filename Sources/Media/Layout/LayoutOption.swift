// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
import CFFmpeg

/// How to interpret the channels of a track.
public enum LayoutOption: Sendable, Equatable {
  /// The stated layout. Without one, one channel is mono and two channels are stereo. More channels
  /// of unknown layout are a soundfield in ACN order and SN3D scale if their number fits, with or
  /// without two channels of head-locked stereo (RFC 8486).
  case auto
  /// A first-order soundfield, with or without head-locked stereo.
  case foa
  /// A soundfield of any order from 1 to 7, with or without head-locked stereo.
  case hoa
  /// A soundfield of order 1 to 3 with FuMa channel order and weights.
  case fuMa
  /// Two channels that were made for headphones.
  case binaural
  /// Loudspeakers. `name` is the name of the layout or the list of channel names, in lower case.
  case speakers(name: String, [Speaker])

  /// The names that the help and the messages list. `init(_:)` also accepts other FFmpeg names, and
  /// lists such as `FL+FR+LFE`.
  public static let names =
    ["auto", "foa", "hoa", "fuma", "binaural"] + bedNames

  /// Parses the name of a layout.
  ///
  /// - Parameter text: one of `names`, FFmpeg's name of a loudspeaker layout, a list of FFmpeg's
  ///   channel names in upper case, or FFmpeg's channel mask.
  /// - Throws: `MediaError.unknownLayout` if `text` is none of these, or if a channel is repeated
  ///   or is not a `Speaker`.
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
  /// - Throws: `MediaError.layoutMismatch` if the number of channels does not fit;
  ///   `.unlabelledChannels` if `auto` finds no layout.
  public func resolve(track: AudioTrack) throws(MediaError) -> ChannelLayout {
    try resolve(track.layout)
  }

  /// Returns the layout with which to play channels labelled as `layout`. Throws the errors of
  /// `resolve(track:)`.
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

  /// Returns an ambisonic layout with an order in `orders`. A labelled soundfield keeps its
  /// convention.
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

  /// Whether two layouts are equal if side and back surrounds count as the same. Returns false if
  /// `layout` has both.
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

  /// Returns the layout names that a message suggests for `count` channels, at most two, such as
  /// "7.1 or 5.1.2". If no name fits, returns a description of a list.
  static func suggestion(forChannels count: Int) -> String {
    let fitting = bedNames.reversed().filter { name in
      (beds[name] ?? named(name))?.count == count
    }
    // The less common names come last.
    let common = ["2.1": 1, "5.1.2": 1, "4.0": 1, "7.1.2": 1]
    let ordered = fitting.sorted { (common[$0] ?? 0) < (common[$1] ?? 0) }
    let names = ordered.prefix(2).joined(separator: " or ")
    return names.isEmpty
      ? "a list of \(count) loudspeakers, such as FL+FR+LFE for three" : names
  }

  /// The loudspeakers of beds with height channels, in the order of FFmpeg's channel numbers. Older
  /// versions of FFmpeg have no names for these beds.
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

  /// Returns the loudspeakers for one of FFmpeg's layout names, a list of its channel names or its
  /// channel mask; nil if `text` is none of these, or if a channel is repeated or is not a
  /// `Speaker`.
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
