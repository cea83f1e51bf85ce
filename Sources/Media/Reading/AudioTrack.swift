// SPDX-License-Identifier: Apache-2.0

public import Ambisonics

/// One audio track of a file, as its container describes it.
public struct AudioTrack: Sendable, Equatable {
  /// The largest number of channels that can be played: a soundfield of seventh order (64) with
  /// head-locked stereo (2).
  public static let maximumChannels = 66
  /// The sample rates that can be played, in Hz.
  public static let sampleRates = 8000...384_000

  /// The number of the track among the audio tracks of the file, from 1 in file order.
  public let number: Int
  /// FFmpeg's short name of the codec ("flac", "pcm_s24le"). If FFmpeg does not know the codec, the
  /// name is the four-character code of the codec, or "unknown" if that code is not printable.
  public let codec: String
  /// The layout that the container or the codec states. If neither states one, one channel is mono,
  /// two channels are stereo, and more are `.unknown`.
  public internal(set) var layout: ChannelLayout
  /// Sample rate in Hz.
  public internal(set) var sampleRate: Int
  /// Language code from the file (usually ISO 639-2); nil if the file states none or states that
  /// the language is undetermined ("und").
  public let language: String?
  public let title: String?
  public let isDefault: Bool
  /// Whether the track is supplementary sound, such as a commentary or an audio description, rather
  /// than the main sound.
  public let isSupplementary: Bool
  /// The reason why the track cannot be played; nil if it can be played.
  public internal(set) var problem: TrackProblem?
  /// Whether the track was made for headphones. The channel labels, a `BINAURAL` tag, the word
  /// "binaural" in the title or handler name, or the codec (Dolby Headphone) can indicate this.
  public internal(set) var isBinaural: Bool
  /// The matrix encoding of additional channels into the existing ones; nil if the codec indicates
  /// none or no frame has been decoded yet.
  public internal(set) var matrixEncoding: MatrixEncoding?
  let changes: LayoutChanges
  let streamIndex: Int
  /// The number of frames that the header of a PCM file (WAV or Core Audio) states, even if the
  /// file is shorter. The value is nil for RF64, for other formats, and if the header states no
  /// number.
  let statedFrames: Int64?

  public var channels: Int { layout.channelCount }
  public var isDecodable: Bool { problem == nil }
  /// Whether the codec and the container allow the number of channels to change in mid-stream.
  public var canChangeChannels: Bool { changes.arePossible }
  /// The layouts to be expected later in the track; these may include `layout` itself. The list is
  /// empty if the codec or the container does not allow changes, or if no particular layout is
  /// expected.
  public var laterLayouts: [ChannelLayout] { changes.expected }
}

extension AudioTrack {
  /// Returns the richest track that can be decoded; nil if there is none. The criteria, in order of
  /// importance, are: main rather than supplementary sound, the most channels, a soundfield rather
  /// than loudspeakers, the default track of the file, and the lowest track number.
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
