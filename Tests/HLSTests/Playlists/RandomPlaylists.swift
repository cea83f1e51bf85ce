// SPDX-License-Identifier: Apache-2.0

import TestSupport

@testable import HLS

extension SeededGenerator {
  mutating func chance() -> Bool { Bool.random(using: &self) }

  mutating func word() -> String {
    String(
      (0..<Int.random(in: 1...8, using: &self)).map { _ in
        "abcXYZ019-_./ü".randomElement(using: &self) ?? "a"
      })
  }
}

extension SegmentKey {
  fileprivate static func random(using random: inout SeededGenerator) -> SegmentKey {
    SegmentKey(
      method: random.chance() ? .aes128 : .other("SAMPLE-AES"), uri: random.word(),
      initialisationVector: random.chance()
        ? (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) } : nil,
      format: random.chance() ? "identity" : "com.example")
  }
}

extension MediaPlaylist {
  static func random(using random: inout SeededGenerator) -> MediaPlaylist {
    var playlist = MediaPlaylist()
    playlist.version = Int.random(in: 1...12, using: &random)
    playlist.targetDuration = Double(Int.random(in: 1...20, using: &random))
    playlist.mediaSequence = Int.random(in: 0...1_000_000, using: &random)
    playlist.discontinuitySequence = Int.random(in: 0...9, using: &random)
    playlist.kind = [nil, .onDemand, .event].randomElement(using: &random) ?? nil
    playlist.hasEnded = random.chance()
    playlist.areSegmentsIndependent = random.chance()
    playlist.hasOnlyKeyFrames = random.chance()
    if random.chance() { playlist.holdBack = Double.random(in: 0...60, using: &random) }
    if random.chance() {
      playlist.start = PlaylistStart(
        offset: Double.random(in: -100...100, using: &random), isPrecise: random.chance())
    }
    var discontinuity = playlist.discontinuitySequence
    var (keys, map): ([SegmentKey], MediaMap?) = ([], nil)
    for index in 0..<Int.random(in: 0...12, using: &random) {
      var segment = MediaSegment(
        uri: random.word(), duration: Double.random(in: 0...10, using: &random),
        sequence: playlist.mediaSequence + index)
      if random.chance() { discontinuity += 1 }
      if random.chance() { keys = random.chance() ? [] : [.random(using: &random)] }
      if random.chance() {
        map = MediaMap(
          uri: random.word(), range: random.chance() ? ByteRange(offset: 7, length: 9) : nil,
          keys: keys)
      }
      segment.discontinuity = discontinuity
      segment.keys = keys
      segment.map = map
      segment.isGap = random.chance()
      if random.chance() { segment.title = random.word() }
      if random.chance() {
        let milliseconds = Int.random(in: 0...4_000_000_000_000, using: &random)
        segment.programDate = ProgramDate(seconds: Double(milliseconds) / 1000)
      }
      if random.chance() {
        segment.range = ByteRange(offset: .random(in: 0...1_000_000, using: &random), length: 100)
      }
      playlist.segments.append(segment)
    }
    return playlist
  }
}

extension MultivariantPlaylist {
  static func random(using random: inout SeededGenerator) -> MultivariantPlaylist {
    var playlist = MultivariantPlaylist()
    playlist.version = Int.random(in: 1...12, using: &random)
    playlist.areSegmentsIndependent = random.chance()
    for _ in 0..<Int.random(in: 0...6, using: &random) {
      var rendition = RenditionEntry(
        group: random.word(), name: random.word(), uri: random.chance() ? random.word() : nil)
      rendition.isDefault = random.chance()
      rendition.isAutoselected = rendition.isDefault || random.chance()
      if random.chance() { rendition.language = "de-CH" }
      if random.chance() {
        rendition.channels = AudioChannels(
          count: Int.random(in: 1...24, using: &random), codings: random.chance() ? ["JOC"] : [],
          usages: random.chance() ? ["BINAURAL"] : [])
      }
      if random.chance() { rendition.sampleRate = 48_000 }
      if random.chance() { rendition.characteristics = ["public.a", "public.b"] }
      playlist.renditions.append(rendition)
    }
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      var variant = Variant(
        uri: random.word(), bandwidth: .random(in: 0...9_000_000, using: &random))
      if random.chance() { variant.averageBandwidth = 5 }
      if random.chance() { variant.codecs = ["mp4a.40.2", "ec-3"] }
      if random.chance() { variant.resolution = .init(width: 1920, height: 1080) }
      if random.chance() { variant.audioGroup = random.word() }
      if random.chance() { variant.score = Double.random(in: 0...10, using: &random) }
      if random.chance() { variant.name = random.word() }
      playlist.variants.append(variant)
    }
    return playlist
  }
}
