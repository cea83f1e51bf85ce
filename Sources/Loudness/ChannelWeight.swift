// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
private import Geometry

/// The weight of a channel in the loudness of a programme (ITU-R BS.1770-5, annex 1, table 3, and
/// annex 3).
public enum ChannelWeight: Sendable, Equatable {
  /// Weight 1.0, for loudspeakers that are neither `surround` nor `excluded`.
  case main
  /// Weight 1.41 (+1.5 dB), for an azimuth of 60 to 120 degrees to either side and an elevation
  /// above -30 and below 30 degrees.
  case surround
  /// Weight 0, for low-frequency effects.
  case excluded

  /// Determines the weight of a loudspeaker from its direction in a layout.
  public init(_ speaker: Speaker, in layout: [Speaker]) {
    guard let direction = speaker.direction(in: layout) else {
      self = .excluded
      return
    }
    let place = direction.unitVector
    let isLevel = abs(place.z) < 0.5 - 1e-9
    // The azimuth is 60 to 120 degrees if |x| is at most half of the length of (x, y).
    let level = (place.x * place.x + place.y * place.y).squareRoot()
    let isBeside = abs(place.x) <= 0.5 * level + 1e-9
    self = isLevel && isBeside ? .surround : .main
  }

  /// Returns the weight of each channel; nil if the channels are not loudspeakers.
  ///
  /// BS.1770-5 has no weights for soundfields.
  public static func all(_ layout: ChannelLayout) -> [ChannelWeight]? {
    guard case .speakers(let speakers) = layout else { return nil }
    return speakers.map { ChannelWeight($0, in: speakers) }
  }
}
