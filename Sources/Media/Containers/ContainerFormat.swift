// SPDX-License-Identifier: Apache-2.0

/// The container formats that the reader distinguishes.
enum ContainerFormat {
  /// MP4, M4A, MOV and related formats.
  case quickTime
  case coreAudio
  case wave
  case ogg
  case transportStream
  /// AC-3 or E-AC-3 frames without a container.
  case bareDolby
  /// DTS frames without a container.
  case bareDTS
  /// MP3 or ADTS frames without a container.
  case bareMPEG
  case other

  /// Creates the format for a demuxer.
  ///
  /// - Parameter name: libavformat's short name of the demuxer ("wav", "mov,mp4,...").
  init(_ name: String) {
    self =
      switch name {
      case "caf": .coreAudio
      case "wav": .wave
      case "ogg": .ogg
      case "mpegts": .transportStream
      case "ac3", "eac3": .bareDolby
      case "dts": .bareDTS
      case "aac", "mp3": .bareMPEG
      case _ where name.hasPrefix("mov"): .quickTime
      default: .other
      }
  }
}
