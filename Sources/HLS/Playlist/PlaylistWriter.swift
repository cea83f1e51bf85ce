// SPDX-License-Identifier: Apache-2.0

extension MediaPlaylist {
  /// The text of an `.m3u8` file that contains this playlist.
  public var text: String {
    var lines = ["#EXTM3U", "#EXT-X-VERSION:\(version)"]
    lines.append("#EXT-X-TARGETDURATION:\(Int(targetDuration.rounded(.up)))")
    lines.append("#EXT-X-MEDIA-SEQUENCE:\(mediaSequence)")
    if discontinuitySequence > 0 {
      lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuitySequence)")
    }
    if let kind { lines.append("#EXT-X-PLAYLIST-TYPE:\(kind.rawValue)") }
    if areSegmentsIndependent { lines.append("#EXT-X-INDEPENDENT-SEGMENTS") }
    if hasOnlyKeyFrames { lines.append("#EXT-X-I-FRAMES-ONLY") }
    if let start { lines.append(start.line) }
    if let holdBack { lines.append("#EXT-X-SERVER-CONTROL:HOLD-BACK=\(decimalText(holdBack))") }
    var state = WrittenState(discontinuity: discontinuitySequence)
    for segment in segments { lines += segment.lines(after: &state) }
    if hasEnded { lines.append("#EXT-X-ENDLIST") }
    return lines.joined(separator: "\n") + "\n"
  }
}

extension MultivariantPlaylist {
  /// The text of an `.m3u8` file that contains this playlist, without variables and without a
  /// steering manifest.
  public var text: String {
    var lines = ["#EXTM3U", "#EXT-X-VERSION:\(version)"]
    if areSegmentsIndependent { lines.append("#EXT-X-INDEPENDENT-SEGMENTS") }
    if let start { lines.append(start.line) }
    lines += renditions.map(\.line)
    for variant in variants { lines += [variant.line, variant.uri] }
    return lines.joined(separator: "\n") + "\n"
  }
}

/// The values that apply to the following segments according to the lines written so far.
private struct WrittenState {
  var discontinuity: Int
  var map: MediaMap?
  var keys: [SegmentKey] = []
  var bitRate: Int?
}

extension MediaSegment {
  fileprivate func lines(after state: inout WrittenState) -> [String] {
    var lines: [String] = []
    for _ in 0..<max(0, discontinuity - state.discontinuity) {
      lines.append("#EXT-X-DISCONTINUITY")
    }
    if let map, map != state.map {
      lines += SegmentKey.lines(from: state.keys, to: map.keys)
      lines.append(map.line)
      state.keys = map.keys
    }
    lines += SegmentKey.lines(from: state.keys, to: keys)
    if let bitRate, bitRate != state.bitRate { lines.append("#EXT-X-BITRATE:\(bitRate / 1000)") }
    if let programDate { lines.append("#EXT-X-PROGRAM-DATE-TIME:\(programDate.text)") }
    if isGap { lines.append("#EXT-X-GAP") }
    if let range { lines.append("#EXT-X-BYTERANGE:\(range.text)") }
    lines.append("#EXTINF:\(decimalText(duration)),\(title ?? "")")
    lines.append(uri)
    state.discontinuity = discontinuity
    state.map = map ?? state.map
    state.keys = keys
    state.bitRate = bitRate ?? state.bitRate
    return lines
  }
}

extension ByteRange {
  fileprivate var text: String { "\(length)@\(offset)" }
}

extension MediaMap {
  fileprivate var line: String {
    "#EXT-X-MAP:URI=\"\(uri)\"" + (range.map { ",BYTERANGE=\"\($0.text)\"" } ?? "")
  }
}

extension SegmentKey {
  fileprivate static func lines(from old: [SegmentKey], to new: [SegmentKey]) -> [String] {
    let none = "#EXT-X-KEY:METHOD=NONE"
    if old == new { return [] }
    if new.isEmpty { return [none] }
    // Only `METHOD=NONE` ends a key whose format does not occur again. It ends all other keys too,
    // so all new keys must follow it.
    if !old.isEmpty, old.map(\.format) != new.map(\.format) { return [none] + new.map(\.line) }
    return new.filter { !old.contains($0) }.map(\.line)
  }

  private var line: String {
    var text = "#EXT-X-KEY:METHOD="
    switch method {
    case .aes128: text += "AES-128"
    case .other(let name): text += name
    }
    text += ",URI=\"\(uri)\""
    if let initialisationVector {
      let digits = initialisationVector.map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      text += ",IV=0x" + digits.joined()
    }
    return format == "identity" ? text : text + ",KEYFORMAT=\"\(format)\""
  }
}

extension PlaylistStart {
  fileprivate var line: String {
    "#EXT-X-START:TIME-OFFSET=\(decimalText(offset))" + (isPrecise ? ",PRECISE=YES" : "")
  }
}

extension RenditionEntry {
  fileprivate var line: String {
    var parts = ["TYPE=AUDIO", "GROUP-ID=\"\(group)\"", "NAME=\"\(name)\""]
    if let language { parts.append("LANGUAGE=\"\(language)\"") }
    if isDefault { parts.append("DEFAULT=YES") }
    if isAutoselected { parts.append("AUTOSELECT=YES") }
    if let channels { parts.append("CHANNELS=\"\(channels.text)\"") }
    if !characteristics.isEmpty {
      parts.append("CHARACTERISTICS=\"\(characteristics.joined(separator: ","))\"")
    }
    if let stableID { parts.append("STABLE-RENDITION-ID=\"\(stableID)\"") }
    if let sampleRate { parts.append("SAMPLE-RATE=\(sampleRate)") }
    if let uri { parts.append("URI=\"\(uri)\"") }
    return "#EXT-X-MEDIA:" + parts.joined(separator: ",")
  }
}

extension Variant {
  fileprivate var line: String {
    var parts = ["BANDWIDTH=\(bandwidth)"]
    if let averageBandwidth { parts.append("AVERAGE-BANDWIDTH=\(averageBandwidth)") }
    if !codecs.isEmpty { parts.append("CODECS=\"\(codecs.joined(separator: ","))\"") }
    if let resolution { parts.append("RESOLUTION=\(resolution.width)x\(resolution.height)") }
    if let audioGroup { parts.append("AUDIO=\"\(audioGroup)\"") }
    if let score { parts.append("SCORE=\(decimalText(score))") }
    if let stableID { parts.append("STABLE-VARIANT-ID=\"\(stableID)\"") }
    if let name { parts.append("NAME=\"\(name)\"") }
    if let pathway { parts.append("PATHWAY-ID=\"\(pathway)\"") }
    return "#EXT-X-STREAM-INF:" + parts.joined(separator: ",")
  }
}

/// Formats a number without an exponent. Writes 0 for a magnitude below 0.0001, and limits the
/// magnitude to 9e18.
private func decimalText(_ number: Double) -> String {
  let text = "\(number)"
  if !text.contains("e") { return text.hasSuffix(".0") ? String(text.dropLast(2)) : text }
  // Swift writes an exponent only for magnitudes below 0.0001 or above 2^54.
  return number.magnitude < 1 ? "0" : "\(Int(max(-9e18, min(number, 9e18))))"
}
