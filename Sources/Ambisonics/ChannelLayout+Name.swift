// SPDX-License-Identifier: Apache-2.0

private import Geometry

extension ChannelLayout {
  /// The name to display, such as "stereo", "7.1.4" or "ambisonic, order 3 with stereo".
  ///
  /// In a name such as "7.1.4", the numbers count the loudspeakers at or below ear height, the
  /// low-frequency channels, and the loudspeakers above ear height. The third number is left out if
  /// it is 0.
  public var name: String {
    switch self {
    case .mono: return "mono"
    case .stereo: return "stereo"
    case .unknown(let channels): return channels == 1 ? "1 channel" : "\(channels) channels"
    case .ambisonics(let order, _, let headLocked):
      return "ambisonic, order \(order)" + (headLocked ? " with stereo" : "")
    case .speakers(let speakers):
      let effects = speakers.count(where: \.isLowFrequency)
      let tops = speakers.count { ($0.direction(in: speakers)?.elevation ?? 0) > 0 }
      let name = "\(speakers.count - effects - tops).\(effects)"
      return tops > 0 ? "\(name).\(tops)" : name
    }
  }
}
