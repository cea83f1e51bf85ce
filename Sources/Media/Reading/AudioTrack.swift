// SPDX-License-Identifier: Apache-2.0

public import Ambisonics

/// One audio track of a file, as the container describes it. The first decoded frame can correct
/// this description.
public struct AudioTrack: Sendable, Equatable {
  /// The largest number of channels: a seventh-order soundfield (64) with head-locked stereo (2).
  public static let maximumChannels = 66
  /// The sample rates that can be played, in Hz.
  public static let sampleRates = 8000...384_000

  /// The number of the track among the audio tracks, from 1 in file order.
  public let number: Int
  /// FFmpeg's short name of the codec ("flac", "pcm_s24le"). For a codec that FFmpeg does not know,
  /// this is the four-character code or "unknown".
  public let codec: String
  /// The stated layout; `.unknown` if it cannot be represented. If none is stated, one channel is
  /// mono, two channels are stereo, and more are `.unknown`.
  public internal(set) var layout: ChannelLayout
  /// The sample rate in Hz.
  public internal(set) var sampleRate: Int
  /// The language code in the file, usually from ISO 639-2; nil if none or "und" is stated.
  public let language: String?
  public let title: String?
  public let isDefault: Bool
  /// Whether the track is supplementary, such as a commentary or an audio description.
  public let isSupplementary: Bool
  /// The reason why the track cannot be played; nil if it can be played.
  public internal(set) var problem: TrackProblem?
  /// Whether the track is marked as made for headphones.
  public internal(set) var isBinaural: Bool
  /// The matrix encoding; nil if none is indicated or no frame has been decoded yet.
  public internal(set) var matrixEncoding: MatrixEncoding?
  let changes: LayoutChanges
  let streamIndex: Int
  /// The number of frames that a WAV or Core Audio header states; nil if it cannot be computed or
  /// the file has another format.
  let statedFrames: Int64?

  public var channels: Int { layout.channelCount }
  public var isDecodable: Bool { problem == nil }
  /// Whether the codec and the container allow the number of channels to change in mid-stream.
  public var canChangeChannels: Bool { changes.arePossible }
  /// The layouts to expect later in the track, perhaps including `layout`; empty if none is known.
  public var laterLayouts: [ChannelLayout] { changes.expected }
}

extension AudioTrack {
  /// Returns the richest track that can be played; nil if none can be played. The criteria, in
  /// descending priority, are: main sound rather than supplementary, most channels, a soundfield,
  /// the default track, the lowest number.
  static func richest(of tracks: [AudioTrack]) -> AudioTrack? {
    tracks.filter(\.isDecodable).max { lower, higher in
      (lower.rank, -lower.number) < (higher.rank, -higher.number)
    }
  }

  private var rank: Int {
    let isSoundfield = if case .ambisonics = layout { true } else { false }
    return (isSupplementary ? 0 : 1000) + channels * 4 + (isSoundfield ? 2 : 0)
      + (isDefault ? 1 : 0)
  }
}
