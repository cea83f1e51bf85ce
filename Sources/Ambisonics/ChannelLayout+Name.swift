// SPDX-License-Identifier: Apache-2.0

private import Geometry

extension ChannelLayout {
  /// The name to display: "stereo", "5.1", "7.1.4", "ambisonic, order 3 with stereo", "6 channels".
  ///
  /// The name of a loudspeaker layout other than mono and stereo states, in this order, how many
  /// loudspeakers are at or below ear height, how many channels carry low-frequency effects and,
  /// unless the number is 0, how many loudspeakers are above ear height.
  public var name: String {
    switch self {
    case .mono: return "mono"
    case .stereo: return "stereo"
    case .unknown(let channels): return "\(channels) channels"
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
