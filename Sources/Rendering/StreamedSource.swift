// SPDX-License-Identifier: Apache-2.0

public import Ambisonics

/// A source whose sound arrives during playback, and may arrive late.
public protocol StreamedSource: SoundSource {
  /// Whether `read` would return sound immediately.
  var isReady: Bool { get }
  /// The frame at which the source should start.
  var startFrame: Int { get }
  /// Informs the source of the frame that is audible now.
  func isHeard(frame: Int)
  /// Returns the events up to an audible frame since the last call, oldest first.
  func takeNews(upTo frame: Int) -> [SourceNews]
  /// Makes the current and all later calls of `read` give up instead of waiting. Any thread may
  /// call it.
  func abandon()
  /// Measures the loudness of a piece of sound at the ears, in LUFS, from a layout and channels x
  /// frames; nil for silence. Renditions are brought to one loudness with it.
  var loudnessAsHeard: ((ChannelLayout, [[Float]]) -> Double?)? { get set }
}

extension StreamedSource {
  public var stream: (any StreamedSource)? { self }
}

/// An event of a streamed source.
public enum SourceNews: Sendable, Equatable {
  /// Another rendition is audible.
  case rendition(RenditionNews)
  /// Something else that the listener may want to know, as a sentence.
  case note(String)
}

/// Which rendition is audible from now on, and why.
public struct RenditionNews: Sendable, Equatable {
  /// The name, such as "5.1 at 200 kbit/s".
  public var name: String
  public var layout: ChannelLayout
  /// Whether its layout is neither mono nor stereo.
  public var isMultichannel: Bool { layout.isMultichannel }
  /// The bit rate that the playlist states, in bit/s.
  public var bitRate: Double
  /// The reason for the change; nil for the first rendition.
  public var reason: String?
  /// The position in the source, in seconds.
  public var at: Double
  /// The shift that aligned its sound with the previous rendition, in frames, and how well the two
  /// agree, 0 to 1. Nil if there was nothing to compare.
  public var shift: Int?
  public var agreement: Double?
  /// The gain that makes it as loud as the previous renditions, in dB.
  public var gain: Double

  package init(
    name: String, layout: ChannelLayout, bitRate: Double, reason: String?, at: Double,
    shift: Int?, agreement: Double?, gain: Double
  ) {
    (self.name, self.layout, self.bitRate, self.reason) = (name, layout, bitRate, reason)
    (self.at, self.shift, self.agreement, self.gain) = (at, shift, agreement, gain)
  }
}
