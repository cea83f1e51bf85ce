// SPDX-License-Identifier: Apache-2.0

public import Ambisonics

/// One audio track of a file, as its container describes it.
public struct AudioTrack: Sendable, Equatable {
  /// Seventh order with head-locked stereo.
  public static let maximumChannels = 66
  /// The sample rates that can be played, in Hz.
  public static let sampleRates = 8000...384_000

  /// Number among the audio tracks, from 1 in file order.
  public let number: Int
  /// FFmpeg's short name of the codec ("flac", "pcm_s24le"), or the four-character code of an
  /// unknown codec.
  public let codec: String
  /// The layout that the container or the codec states; `.unknown` if neither does.
  public internal(set) var layout: ChannelLayout
  /// In Hz.
  public internal(set) var sampleRate: Int
  /// Language as in the file (mostly ISO 639-2); nil if the file does not state it.
  public let language: String?
  public let title: String?
  public let isDefault: Bool
  /// Whether this is a commentary, an audio description or the like rather than the main sound.
  public let isSupplementary: Bool
  /// Why the track cannot be played; nil if it can.
  public internal(set) var problem: TrackProblem?
  /// Whether the track was made for headphones. This follows from its channel labels, a `BINAURAL`
  /// tag, the word in its title or handler name, or its codec (Dolby Headphone).
  public internal(set) var isBinaural: Bool
  /// The matrix encoding of additional channels into the existing ones; nil if there is none or the
  /// codec does not indicate it.
  public internal(set) var matrixEncoding: MatrixEncoding?
  let changes: LayoutChanges
  let streamIndex: Int
  /// The length that the header of a PCM file states, even if the file is shorter; nil for other
  /// files.
  let statedFrames: Int64?

  public var channels: Int { layout.channelCount }
  public var isDecodable: Bool { problem == nil }
  /// Whether codec and container allow the channels to change in mid-stream.
  public var canChangeChannels: Bool { changes.arePossible }
  /// Layouts that later frames may have, besides that of the first frames. Empty if the codec or
  /// the container does not allow changes, or if only layouts that fold into the first are
  /// expected.
  public var laterLayouts: [ChannelLayout] { changes.expected }
}

extension AudioTrack {
  /// Returns the richest track that can be decoded. In order of importance: no supplementary track,
  /// the most channels, a soundfield rather than loudspeakers, the file's default, the lowest
  /// number.
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
