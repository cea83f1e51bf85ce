// SPDX-License-Identifier: Apache-2.0

public import Ambisonics

/// A source whose sound arrives during playback and may arrive late.
public protocol StreamedSource: SoundSource {
  /// Whether `read` can return sound without waiting.
  var isReady: Bool { get }
  /// The frame at which playback should start.
  var startFrame: Int { get }
  /// Informs the source which frame is rendered next. That frame becomes audible after the queued
  /// sound.
  func isHeard(frame: Int)
  /// Returns the events that have not been returned yet. A note is returned at once. A change of
  /// rendition is returned only when `frame` has reached it. Each of the two kinds is in order of
  /// time.
  func takeNews(upTo frame: Int) -> [SourceNews]
  /// Makes the current call of `read` and all later ones throw `PlaybackError.interrupted` instead
  /// of waiting. Any thread may call this function.
  func abandon()
  /// A function that measures how loud a short sound is at the ears, in LUFS; it returns nil for
  /// silence. Its arguments are the layout and the samples, channels x frames. The source uses it
  /// to bring all renditions to the same loudness; without this function, their levels are not
  /// matched.
  var loudnessAsHeard: ((ChannelLayout, [[Float]]) -> Double?)? { get set }
}

extension StreamedSource {
  public var stream: (any StreamedSource)? { self }
}

/// An event of a streamed source.
public enum SourceNews: Sendable, Equatable {
  /// A rendition has become audible, either the first one or a different one.
  case rendition(RenditionNews)
  /// Something else that the listener may want to know, as a sentence.
  case note(String)
}

/// A change of the audible rendition, and the reason for it.
public struct RenditionNews: Sendable, Equatable {
  /// The name of the rendition, such as "5.1 at 200 kbit/s".
  public var name: String
  public var layout: ChannelLayout
  /// Whether the layout is neither mono nor stereo.
  public var isMultichannel: Bool { layout.isMultichannel }
  /// The bit rate, in bit/s, as a multivariant playlist states it. Without such a playlist, the bit
  /// rate is measured from one segment.
  public var bitRate: Double
  /// The reason for the change; nil for the first rendition or if no reason is known.
  public var reason: String?
  /// The position in the source at which the rendition becomes audible, in seconds.
  public var at: Double
  /// The shift that aligned the rendition with the previous one, in frames: positive if the
  /// rendition was moved to a later time. Nil if the two renditions were not compared or did not
  /// agree.
  public var shift: Int?
  /// The correlation of the two renditions after the alignment, 0.5 to 1; nil if `shift` is nil.
  public var agreement: Double?
  /// The gain that makes the rendition as loud as the previous ones, in dB.
  public var gain: Double

  package init(
    name: String, layout: ChannelLayout, bitRate: Double, reason: String?, at: Double,
    shift: Int?, agreement: Double?, gain: Double
  ) {
    (self.name, self.layout, self.bitRate, self.reason) = (name, layout, bitRate, reason)
    (self.at, self.shift, self.agreement, self.gain) = (at, shift, agreement, gain)
  }
}
