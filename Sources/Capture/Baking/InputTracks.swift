// SPDX-License-Identifier: Apache-2.0

import CFFmpeg
import Media

/// Which tracks of the input file are replaced in a baked file.
struct InputTracks {
  private(set) var replaced: Set<Int32> = []
  /// The numbers that the container gives to the replaced tracks.
  private(set) var replacedNumbers: Set<UInt32> = []
  /// The number that the container gives to the mixed track; 0 if there is no such track.
  private(set) var mixedNumber: UInt32 = 0
  /// Whether the input file has tracks that are not replaced.
  private(set) var hasOthers = false

  /// Finds the tracks to replace: the mixed track and, if the file contains a tuning, also all
  /// stereo AAC tracks, metadata tracks and attached tunings. If the file cannot be opened, no
  /// tracks are replaced.
  ///
  /// - Parameter mixed: the number of the mixed audio track, counted from 1.
  init(_ path: String, mixed: Int) {
    var context: UnsafeMutablePointer<AVFormatContext>?
    guard avformat_open_input(&context, "file:" + path, nil, nil) >= 0, let open = context else {
      return
    }
    defer { avformat_close_input(&context) }
    avformat_find_stream_info(open, nil)
    let isOwn = EmbeddedText.read(path).contains { text in
      String(decoding: text.prefix(12), as: UTF8.self).hasPrefix(#"{"version":"#)
    }
    var audio = 0
    for i in 0..<Int(open.pointee.nb_streams) {
      guard let stream = open.pointee.streams[i] else { continue }
      let parameters = stream.pointee.codecpar.pointee
      let isSound = parameters.codec_type == AVMEDIA_TYPE_AUDIO
      if isSound { audio += 1 }
      let isMixed = isSound && audio == mixed
      if isMixed { mixedNumber = UInt32(truncatingIfNeeded: stream.pointee.id) }
      if isMixed || (isOwn && Self.isOwn(stream)) {
        replaced.insert(stream.pointee.index)
        replacedNumbers.insert(UInt32(truncatingIfNeeded: stream.pointee.id))
      } else {
        hasOthers = true
      }
    }
  }

  /// Returns whether a track is of a kind that this program adds: stereo AAC, metadata or a tuning.
  private static func isOwn(_ stream: UnsafeMutablePointer<AVStream>) -> Bool {
    let parameters = stream.pointee.codecpar.pointee
    switch parameters.codec_type {
    case AVMEDIA_TYPE_AUDIO:
      return parameters.codec_id == AV_CODEC_ID_AAC && parameters.ch_layout.nb_channels == 2
    case AVMEDIA_TYPE_DATA: return parameters.codec_tag == 0x7862_656d
    case AVMEDIA_TYPE_ATTACHMENT:
      guard let entry = av_dict_get(stream.pointee.metadata, "filename", nil, 0) else {
        return false
      }
      return String(cString: entry.pointee.value) == "stillstage-tuning.json"
    default: return false
    }
  }
}
