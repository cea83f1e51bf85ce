// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

/// How two channels say that they were made for headphones.
enum BinauralMark {
  /// `AV_CHAN_BINAURAL_LEFT` and `_RIGHT`, which FFmpeg has since 7.1; older headers lack the names.
  private static let channels: [UInt32] = [61, 62]

  static func isSet(_ layout: AVChannelLayout) -> Bool {
    var layout = layout
    guard layout.nb_channels == 2 else { return false }
    let found = (0..<2).map {
      UInt32(bitPattern: Int32(av_channel_layout_channel_from_index(&layout, $0).rawValue))
    }
    return found == channels
  }

  /// A tag `BINAURAL` of the track, or of a file with one audio track, that does not say no; or the
  /// word in the track's own title or handler's name.
  static func isSet(stream: UnsafeMutablePointer<AVStream>, in demuxer: Demuxer) -> Bool {
    let own = stream.pointee.metadata
    let isAlone =
      demuxer.streams.count {
        $0.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO
      } == 1
    let file = isAlone ? demuxer.context.pointee.metadata : nil
    if let tag = metadata(own, "BINAURAL") ?? metadata(file, "BINAURAL") {
      return !["0", "no", "false", "off"].contains(tag.lowercased())
    }
    return [metadata(own, "title"), metadata(own, "handler_name")].contains {
      $0.map(hasWord) ?? false
    }
  }

  private static func hasWord(_ text: String) -> Bool {
    text.lowercased().split { !$0.isLetter }.contains("binaural")
  }
}
