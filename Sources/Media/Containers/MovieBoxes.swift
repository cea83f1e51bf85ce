// SPDX-License-Identifier: Apache-2.0

import Ambisonics

/// Reads the loudness and the ambisonic layouts from the boxes of a QuickTime, MP4 or M4A file. The
/// layouts are in `chan` boxes (QuickTime File Format) and `SA3D` boxes (Spatial Audio RFC).
struct MovieBoxes {
  private let reader: BoxReader
  private let top: [Box]
  private let size: Int64?

  init(_ source: any ByteSource) {
    size = source.byteCount
    reader = BoxReader(source)
    top = reader.top
  }

  /// Whether the file has an `ftyp` box but lacks the index (the `moov` box).
  var isCutShort: Bool { top.contains { $0.type == "ftyp" } && movie == nil }

  /// The length of the file up to its first incomplete or invalid top-level box. Nil if there is no
  /// such box, or if no complete box follows the `moov` box.
  var wholeLength: Int64? {
    guard let movie, let size else { return nil }
    let end = reader.topEnd
    return end > movie.end && end < size ? end : nil
  }

  /// Returns the ambisonic layouts by track identifier.
  func ambisonicLayouts() -> [Int: ChannelLayout] {
    var layouts: [Int: ChannelLayout] = [:]
    for track in tracks {
      guard let identifier = identifier(of: track),
        let description = reader.descend(track, ["mdia", "minf", "stbl", "stsd"])
      else { continue }
      layouts[identifier] = ambisonicLayout(in: description)
    }
    return layouts
  }

  /// Returns the `tlou` box of a track or, if there is none, of the movie; nil if neither has one.
  func loudness(track wanted: Int) -> LoudnessBox? {
    let owners = [tracks.first { identifier(of: $0) == wanted }, movie].compactMap(\.self)
    // There may be several user data boxes.
    return owners.lazy.flatMap { owner in
      reader.children(owner).filter { $0.type == "udta" }
    }.compactMap { data in
      reader.descend(data, ["ludt", "tlou"]).flatMap { reader.payload($0) }.map(LoudnessBox.init)
    }.first
  }

  private var movie: Box? { top.first { $0.type == "moov" } }

  private var tracks: [Box] {
    movie.map { reader.children($0).filter { $0.type == "trak" } } ?? []
  }

  private func identifier(of track: Box) -> Int? {
    guard let fields = reader.descend(track, ["tkhd"]).flatMap({ header($0, limit: 24) }) else {
      return nil
    }
    return fields.big32(fields.big(0, bytes: 1) == 1 ? 20 : 12).map { Int($0) }
  }
}

/// Parses the first entry in the `stsd` box of an audio track (ISO 14496-12, 12.2.3; QuickTime File
/// Format, "Sound sample descriptions").
extension MovieBoxes {
  private func ambisonicLayout(in description: Box) -> ChannelLayout? {
    guard let entry = reader.children(description, from: 8).first,
      let fields = header(entry, limit: 64),
      let version = fields.big16(8),
      let channels = version == 2 ? fields.big32(40).map({ Int($0) }) : fields.big16(16)
    else { return nil }
    // In QuickTime files, entries of versions 1 and 2 have a longer fixed part. An entry of an ISO
    // file can state version 1 but have the short fixed part.
    let starts: [Int64] = version == 2 ? [64] : version == 1 ? [44, 28] : [28]
    return starts.lazy.compactMap { start in
      layout(in: reader.children(entry, from: start), channels: channels)
    }.first
  }

  /// Returns the layout from the first `chan` or `SA3D` box that describes a soundfield with
  /// `channels` channels, in `boxes` or in a `wave` box among them; nil if there is none.
  ///
  /// - Parameter isInner: whether `boxes` are the children of a QuickTime `wave` box.
  private func layout(in boxes: [Box], channels: Int, isInner: Bool = false) -> ChannelLayout? {
    boxes.lazy.compactMap { box in
      switch box.type {
      case "chan":
        header(box).flatMap { $0.slice(4, count: $0.count - 4) }.flatMap {
          CoreAudioLayout.ambisonic($0, channels: channels)
        }
      case "SA3D": header(box).flatMap { Self.spatialAudio($0, channels: channels) }
      case "wave" where !isInner:
        layout(in: reader.children(box), channels: channels, isInner: true)
      default: nil
      }
    }.first
  }

  private func header(_ box: Box, limit: Int64 = .max) -> HeaderBytes? {
    reader.payload(box, limit: limit).map { HeaderBytes($0) }
  }

  /// Parses an `SA3D` box. The highest bit of the type marks head-locked stereo. The other bits
  /// must be 0 (periphonic).
  ///
  /// The box must state version 0, order 1 to 7, channel ordering 0 (ACN), normalisation 0 (SN3D),
  /// `channels` channels and an identity channel map. `channels` must match the order and
  /// head-locked stereo. Otherwise, returns nil.
  private static func spatialAudio(_ box: HeaderBytes, channels: Int) -> ChannelLayout? {
    guard box.big(0, bytes: 1) == 0, let type = box.big(1, bytes: 1), type & 0x7F == 0,
      let order = box.big32(2).map({ Int($0) }), (1...7).contains(order),
      box.big(6, bytes: 1) == 0, box.big(7, bytes: 1) == 0, box.big32(8) == UInt32(channels)
    else { return nil }
    let layout = ChannelLayout.ambisonics(
      order: order, convention: .ambiX, headLocked: type & 0x80 != 0)
    let isIdentity = (0..<channels).allSatisfy { box.big32(12 + 4 * $0) == UInt32($0) }
    return layout.channelCount == channels && isIdentity ? layout : nil
  }
}
