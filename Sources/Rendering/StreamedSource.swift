// SPDX-License-Identifier: Apache-2.0

public import Ambisonics

/// A source whose sound comes while it is played, and may come late.
public protocol StreamedSource: SoundSource {
  /// Whether `read` would give sound at once.
  var isReady: Bool { get }
  /// The frame at which it wishes to be begun.
  var startFrame: Int { get }
  /// What is heard by now, a frame of the source.
  func isHeard(frame: Int)
  /// What happened up to a frame that is heard, since the last call, oldest first.
  func takeNews(upTo frame: Int) -> [SourceNews]
  /// Makes a `read` that waits give up, and all that follow; for any thread.
  func abandon()
  /// Measures how loud a piece of sound is as it is heard, LUFS: channels x frames of a layout; nil
  /// for silence. Renditions are brought to one loudness by it.
  var loudnessAsHeard: ((ChannelLayout, [[Float]]) -> Double?)? { get set }
}

extension StreamedSource {
  public var stream: (any StreamedSource)? { self }
}

/// What happened to a streamed source.
public enum SourceNews: Sendable, Equatable {
  /// Another rendition is heard.
  case rendition(RenditionNews)
  /// Something else that the listener may want to know, a sentence.
  case note(String)
}

/// Which rendition is heard from now on, and why.
public struct RenditionNews: Sendable, Equatable {
  /// Such as "5.1 at 200 kbit/s".
  public var name: String
  public var layout: ChannelLayout
  /// It is made spatial from its own channels; otherwise it is stereo.
  public var isMultichannel: Bool { layout.isMultichannel }
  /// bit/s, as the playlist states it.
  public var bitRate: Double
  /// Nil for the first one.
  public var reason: String?
  /// s of the source.
  public var at: Double
  /// By how much its sound was shifted to lie over the one before, frames; and how well the two
  /// agree, 0 to 1. Nil where there was nothing to compare.
  public var shift: Int?
  public var agreement: Double?
  /// dB that were put to it, so that it is as loud as the ones before.
  public var gain: Double

  package init(
    name: String, layout: ChannelLayout, bitRate: Double, reason: String?, at: Double,
    shift: Int?, agreement: Double?, gain: Double
  ) {
    (self.name, self.layout, self.bitRate, self.reason) = (name, layout, bitRate, reason)
    (self.at, self.shift, self.agreement, self.gain) = (at, shift, agreement, gain)
  }
}
