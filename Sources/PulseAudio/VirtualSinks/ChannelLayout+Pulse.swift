// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CPulse

extension ChannelLayout {
  /// The layout of a channel map; nil if a position is unknown or occurs twice.
  init?(_ map: pa_channel_map) {
    let positions = withUnsafeBytes(of: map.map) {
      Array($0.bindMemory(to: pa_channel_position_t.self).prefix(Int(map.channels)))
    }
    if positions == [PA_CHANNEL_POSITION_MONO] {
      self = .mono
      return
    }
    let speakers = positions.compactMap { position in
      Speaker.allCases.first { $0.position == position }
    }
    guard speakers.count == positions.count, Set(speakers).count == speakers.count else {
      return nil
    }
    self = .speakers(speakers)
  }

  /// The channel names for a module's `channel_map`; nil if PulseAudio cannot name the channels.
  ///
  /// Without rear loudspeakers, the side loudspeakers get the names of rear loudspeakers, which the
  /// server uses for 5.1.
  var pulseChannelMap: String? {
    if self == .mono { return "mono" }
    guard case .speakers(let speakers) = self else { return nil }
    let hasBack = speakers.contains(.backLeft)
    let names = speakers.map { speaker -> String? in
      let named: Speaker =
        switch speaker {
        case .sideLeft where !hasBack: .backLeft
        case .sideRight where !hasBack: .backRight
        default: speaker
        }
      return named.position.flatMap {
        pa_channel_position_to_string($0).map { String(cString: $0) }
      }
    }
    let known = names.compactMap { $0 }
    return known.count == names.count ? known.joined(separator: ",") : nil
  }
}

extension Speaker {
  fileprivate var position: pa_channel_position_t? {
    switch self {
    case .frontLeft: PA_CHANNEL_POSITION_FRONT_LEFT
    case .frontRight: PA_CHANNEL_POSITION_FRONT_RIGHT
    case .frontCenter: PA_CHANNEL_POSITION_FRONT_CENTER
    case .lowFrequency: PA_CHANNEL_POSITION_LFE
    case .backLeft: PA_CHANNEL_POSITION_REAR_LEFT
    case .backRight: PA_CHANNEL_POSITION_REAR_RIGHT
    case .backCenter: PA_CHANNEL_POSITION_REAR_CENTER
    case .frontLeftOfCenter: PA_CHANNEL_POSITION_FRONT_LEFT_OF_CENTER
    case .frontRightOfCenter: PA_CHANNEL_POSITION_FRONT_RIGHT_OF_CENTER
    case .sideLeft: PA_CHANNEL_POSITION_SIDE_LEFT
    case .sideRight: PA_CHANNEL_POSITION_SIDE_RIGHT
    case .topCenter: PA_CHANNEL_POSITION_TOP_CENTER
    case .topFrontLeft: PA_CHANNEL_POSITION_TOP_FRONT_LEFT
    case .topFrontRight: PA_CHANNEL_POSITION_TOP_FRONT_RIGHT
    case .topFrontCenter: PA_CHANNEL_POSITION_TOP_FRONT_CENTER
    case .topBackLeft: PA_CHANNEL_POSITION_TOP_REAR_LEFT
    case .topBackRight: PA_CHANNEL_POSITION_TOP_REAR_RIGHT
    case .topBackCenter: PA_CHANNEL_POSITION_TOP_REAR_CENTER
    default: nil
    }
  }
}
