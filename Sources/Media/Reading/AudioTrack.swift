// SPDX-License-Identifier: Apache-2.0

public import Ambisonics

/// One audio track of a file, as its container describes it.
public struct AudioTrack: Sendable, Equatable {
  /// Seventh order with head-locked stereo.
  public static let maximumChannels = 66
  /// What can be played, in Hz.
  public static let sampleRates = 8000...384_000

  /// Counted from 1 among the audio tracks, in file order.
  public let number: Int
  /// FFmpeg's short name ("flac", "pcm_s24le"), or the four-character code of an unknown one.
  public let codec: String
  /// What the container or the codec says the channels are; `.unknown` where neither does.
  public internal(set) var layout: ChannelLayout
  /// In Hz.
  public internal(set) var sampleRate: Int
  /// As in the file (mostly ISO 639-2), or nil.
  public let language: String?
  public let title: String?
  public let isDefault: Bool
  /// A commentary, an audio description or the like, which no one means by "the file".
  public let isSupplementary: Bool
  /// Why it cannot be played; nil if it can.
  public internal(set) var problem: TrackProblem?
  /// Whether it was made for headphones: by its channels' names, by a tag `BINAURAL`, by the word
  /// in its title, or by its codec (Dolby Headphone).
  public internal(set) var isBinaural: Bool
  /// How more channels were folded into those that there are; nil: not, or not told.
  public internal(set) var matrixEncoding: MatrixEncoding?
  let changes: LayoutChanges
  let streamIndex: Int
  /// The length that a PCM file's header states, whether or not the file is that long; nil for
  /// other files.
  let statedFrames: Int64?

  public var channels: Int { layout.channelCount }
  public var isDecodable: Bool { problem == nil }
  /// Whether codec and container let the channels change in mid-stream.
  public var canChangeChannels: Bool { changes.arePossible }
  /// Layouts that later frames may have, the first frames' left out: empty where the codec or the
  /// container holds to one, or where only what folds into the first is to be expected.
  public var laterLayouts: [ChannelLayout] { changes.expected }
}

extension AudioTrack {
  /// The richest track that can be decoded: no supplementary one if that can be helped, then the
  /// most channels, then a soundfield before loudspeakers, then the file's default, then the first.
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
