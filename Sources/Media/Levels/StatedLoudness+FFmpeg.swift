// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

extension StatedLoudness {
  /// - Parameters:
  ///   - track: of the file.
  ///   - demuxer: that has the file open.
  ///   - source: read for what libavformat does not report.
  ///   - dialogueLevel: LUFS at which dialogue is decoded; nil where the codec has no word on it.
  init?(
    of track: AudioTrack, in demuxer: Demuxer, source: any ByteSource, dialogueLevel: Int?
  ) {
    if let dialogueLevel {
      let origin: Origin = track.codec == "aac" ? .programmeReference : .dialnorm
      self.init(origin: origin, loudness: Double(dialogueLevel))
      return
    }
    let stream = demuxer.streams[track.streamIndex]
    if demuxer.format.hasPrefix("mov"), source.byteCount != nil {
      defer { demuxer.resume() }
      let box = QuickTimeBoxes(source).loudness(track: Int(stream.pointee.id))
      if let loudness = box?.loudness, Self.plausible.contains(loudness) {
        self.init(origin: .loudnessBox, loudness: loudness, peak: box?.peak)
        return
      }
    }
    let container = demuxer.context.pointee.metadata
    // A file's own tags say nothing of one track among several.
    let isOnly =
      demuxer.streams.filter {
        $0.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO
      }.count == 1
    let found = Self.tagged { name in
      metadata(stream.pointee.metadata, name) ?? (isOnly ? metadata(container, name) : nil)
    }
    guard let found else { return nil }
    self = found
  }
}
