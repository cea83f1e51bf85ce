// SPDX-License-Identifier: Apache-2.0

private import Geometry

extension ChannelLayout {
  /// The name to display: "stereo", "5.1", "7.1.4", "ambisonic, order 3 with stereo", "6 channels".
  ///
  /// The numbers of a loudspeaker layout count, in this order, the loudspeakers at or below ear
  /// height, the channels for low-frequency effects and, if there are any, the loudspeakers above.
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
