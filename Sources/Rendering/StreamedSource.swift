// SPDX-License-Identifier: Apache-2.0

public import Ambisonics

/// A source whose sound arrives during playback and may arrive late.
public protocol StreamedSource: SoundSource {
  /// Whether enough sound is available to read on without waiting.
  var isReady: Bool { get }
  /// The frame at which playback should start.
  var startFrame: Int { get }
  /// Tells the source which frame is rendered next.
  func isHeard(frame: Int)
  /// Returns the new events. Changes of rendition after `frame` are left for a later call.
  func takeNews(upTo frame: Int) -> [SourceNews]
  /// Makes the current and later calls of `read` and `nextLayout` throw `PlaybackError.interrupted`
  /// instead of waiting. Any thread may call this function.
  func abandon()
  /// Measures the loudness of a short sound at the ears, in LUFS. The arguments are the layout and
  /// the samples, channels x frames. The result is nil if the sound is silent or cannot be
  /// rendered. Without this function, the levels of the renditions are not matched.
  var loudnessAsHeard: ((ChannelLayout, [[Float]]) -> Double?)? { get set }
}

extension StreamedSource {
  public var stream: (any StreamedSource)? { self }
}

/// An event of a streamed source.
public enum SourceNews: Sendable, Equatable {
  /// A rendition has become audible.
  case rendition(RenditionNews)
  /// A message for the listener, such as "skipped 3.0 s of sound that the server no longer has".
  case note(String)
}

/// The first audible rendition, or a change of the audible rendition.
public struct RenditionNews: Sendable, Equatable {
  /// The layout and the bit rate of the rendition, such as "5.1 at 384 kbit/s".
  public var name: String
  public var layout: ChannelLayout
  /// Whether the layout is neither mono nor stereo.
  public var isMultichannel: Bool { layout.isMultichannel }
  /// The stated or measured bit rate, in bit/s.
  public var bitRate: Double
  /// The reason for the change; nil if none is known.
  public var reason: String?
  /// The position in the source at which the rendition becomes audible, in seconds.
  public var at: Double
  /// The number of frames by which the rendition was delayed to align it with the previous one;
  /// negative if the rendition was advanced. Nil if there was no alignment.
  public var shift: Int?
  /// The correlation of the two renditions after the alignment, 0.5 to 1; nil if there was no
  /// alignment.
  public var agreement: Double?
  /// The gain of the rendition when it becomes audible, in dB. If the levels of the renditions are
  /// matched, the gain adapts the loudness to that of the earlier renditions.
  public var gain: Double

  package init(
    name: String, layout: ChannelLayout, bitRate: Double, reason: String?, at: Double,
    shift: Int?, agreement: Double?, gain: Double
  ) {
    (self.name, self.layout, self.bitRate, self.reason) = (name, layout, bitRate, reason)
    (self.at, self.shift, self.agreement, self.gain) = (at, shift, agreement, gain)
  }
}
