// SPDX-License-Identifier: Apache-2.0

/// The reason why audio could not be read, converted or written. `description` is a message for the
/// user.
public enum MediaError: Error, Sendable, Equatable {
  case notFound(path: String)
  case permissionDenied(path: String)
  case isDirectory(path: String)
  /// The path names neither a regular file nor a directory. `kind` is what it names, with an
  /// article ("a FIFO").
  case notRegularFile(path: String, kind: String)
  case emptyFile(path: String)
  case noFrames(path: String)
  case unrecognised(path: String)
  case missingIndex(path: String)
  case openFailed(path: String, reason: String)
  case readFailed(path: String, reason: String)
  case noAudio(path: String, hasVideo: Bool)
  case unplayable(path: String, track: Int, problem: TrackProblem)
  case noSuchTrack(path: String, track: Int, count: Int)
  case outputRate(Int)
  case trackLost(path: String)
  case unknownLayout(String)
  case layoutMismatch(layout: String, accepted: [Int], channels: Int)
  case unlabelledChannels(Int)
  case writeFailed(path: String, reason: String)
  case writerFormat(channels: Int, sampleRate: Int)
  case interrupted
}

/// The reason why one track of a file cannot be played.
public enum TrackProblem: Sendable, Equatable {
  /// The installed FFmpeg has no decoder for `codec`.
  case noDecoder(codec: String)
  case channelCount(Int)
  case sampleRate(Int)
  case decoder(codec: String, reason: String)
}

extension TrackProblem: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noDecoder("apac"):
      "it is Apple Positional Audio (APAC), which no open-source decoder supports"
    case .noDecoder(let codec): "the installed FFmpeg has no decoder for \(printable(codec))"
    case .channelCount(0): "it declares no channels"
    case .channelCount(let count):
      "it has \(count) channels; at most \(AudioTrack.maximumChannels) can be played"
    case .sampleRate(let rate):
      "its sample rate is \(rate) Hz; \(AudioTrack.sampleRates.lowerBound) to "
        + "\(AudioTrack.sampleRates.upperBound) Hz can be played"
    case .decoder(let codec, let reason):
      "the \(printable(codec)) decoder cannot be opened (\(printable(reason)))"
    }
  }
}

extension MediaError: CustomStringConvertible {
  public var description: String { text(layoutSetting: "the layout") }

  /// Returns the description with `layoutSetting` as the name of the layout setting.
  package func text(layoutSetting: String) -> String {
    switch self {
    case .notFound(let path): "\(printable(path)): no such file; check the path"
    case .permissionDenied(let path):
      "\(printable(path)): permission denied; give this user access to the file and its folders"
    case .isDirectory(let path): "\(printable(path)): is a directory; choose a file in it"
    case .notRegularFile(let path, let kind):
      "\(printable(path)): is \(kind); copy the audio to a regular file first"
    case .emptyFile(let path): "\(printable(path)): is empty; choose a file with audio"
    case .noFrames(let path):
      "\(printable(path)): the audio track has no frames; choose another file"
    case .unrecognised(let path):
      "\(printable(path)): not an audio file that FFmpeg recognises; check it with `ffprobe`"
    case .missingIndex(let path):
      "\(printable(path)): the file is truncated and has no complete index; "
        + "copy or download it again"
    case .openFailed(let path, let reason):
      "\(printable(path)): cannot be opened (\(printable(reason))); check it with `ffprobe`"
    case .readFailed(let path, let reason):
      "\(printable(path)): reading failed (\(printable(reason))); check the disk or the network"
    case .noAudio(let path, let hasVideo):
      "\(printable(path)): contains \(hasVideo ? "video but no audio" : "no audio"); "
        + "choose a file with an audio track"
    case .unplayable(let path, let track, let problem):
      "\(printable(path)): audio track \(track) cannot be played: \(problem); "
        + "convert the track first"
    case .noSuchTrack(let path, let track, let count):
      "\(printable(path)): has no audio track \(track); "
        + (count == 1 ? "its only audio track is track 1" : "choose from 1 to \(count)")
    case .outputRate(let rate):
      "cannot resample to \(rate) Hz; choose another rate from "
        + "\(AudioTrack.sampleRates.lowerBound) to "
        + "\(AudioTrack.sampleRates.upperBound) Hz"
    case .trackLost(let path):
      "\(printable(path)): the file has changed and no longer has the audio track; open it again"
    case .unknownLayout(let text):
      "unknown channel layout '\(printable(text))'; "
        + "choose one of \(LayoutOption.names.joined(separator: ", ")) "
        + "or give a list of loudspeakers such as FL+FR+LFE"
    case .layoutMismatch(let layout, let accepted, let channels):
      "\(layoutSetting) \(printable(layout)) needs \(alternatives(accepted)) "
        + (accepted == [1] ? "channel, " : "channels, ")
        + "but the track has \(channels); choose another layout"
    case .unlabelledChannels(let channels):
      "the file does not identify its \(channels) channels; set \(layoutSetting) to "
        + LayoutOption.suggestion(forChannels: channels)
    case .writeFailed(let path, let reason):
      "\(printable(path)): cannot be written (\(printable(reason))); "
        + "choose another folder or free some space"
    case .writerFormat(let channels, let sampleRate):
      "cannot write a WAV file with \(channels) \(channels == 1 ? "channel" : "channels") at "
        + "\(sampleRate) Hz; "
        + "choose 1 to \(WAVWriter.maximumChannels) channels and 1 to 4294967 Hz"
    case .interrupted: "interrupted"
    }
  }
}

/// Returns `text` with U+FFFD in place of control characters and of line and paragraph separators.
func printable(_ text: String) -> String {
  guard text.unicodeScalars.contains(where: isControl) else { return text }
  return String(
    String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? "\u{FFFD}" : $0 }))
}

private func isControl(_ scalar: Unicode.Scalar) -> Bool {
  scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar.value == 0x2028
    || scalar.value == 0x2029
}

private func alternatives(_ counts: [Int]) -> String {
  guard let last = counts.last, counts.count > 1 else { return "\(counts.first ?? 0)" }
  return counts.dropLast().map(String.init).joined(separator: ", ") + " or \(last)"
}
