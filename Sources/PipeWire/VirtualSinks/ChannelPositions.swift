// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
import CPipeWire

/// The names of PipeWire's channel positions, for `audio.position`.
private let names: [Speaker: String] = [
  .frontLeft: "FL", .frontRight: "FR", .frontCenter: "FC", .lowFrequency: "LFE",
  .backLeft: "RL", .backRight: "RR", .frontLeftOfCenter: "FLC", .frontRightOfCenter: "FRC",
  .backCenter: "RC", .sideLeft: "SL", .sideRight: "SR", .topCenter: "TC", .topFrontLeft: "TFL",
  .topFrontCenter: "TFC", .topFrontRight: "TFR", .topBackLeft: "TRL", .topBackCenter: "TRC",
  .topBackRight: "TRR", .topSideLeft: "TSL", .topSideRight: "TSR", .wideLeft: "FLW",
  .wideRight: "FRW", .lowFrequency2: "LFE2", .bottomFrontCenter: "BC", .bottomFrontLeft: "BLC",
  .bottomFrontRight: "BRC",
]

private let positions: [Speaker: spa_audio_channel] = [
  .frontLeft: SPA_AUDIO_CHANNEL_FL, .frontRight: SPA_AUDIO_CHANNEL_FR,
  .frontCenter: SPA_AUDIO_CHANNEL_FC, .lowFrequency: SPA_AUDIO_CHANNEL_LFE,
  .backLeft: SPA_AUDIO_CHANNEL_RL, .backRight: SPA_AUDIO_CHANNEL_RR,
  .frontLeftOfCenter: SPA_AUDIO_CHANNEL_FLC, .frontRightOfCenter: SPA_AUDIO_CHANNEL_FRC,
  .backCenter: SPA_AUDIO_CHANNEL_RC, .sideLeft: SPA_AUDIO_CHANNEL_SL,
  .sideRight: SPA_AUDIO_CHANNEL_SR, .topCenter: SPA_AUDIO_CHANNEL_TC,
  .topFrontLeft: SPA_AUDIO_CHANNEL_TFL, .topFrontCenter: SPA_AUDIO_CHANNEL_TFC,
  .topFrontRight: SPA_AUDIO_CHANNEL_TFR, .topBackLeft: SPA_AUDIO_CHANNEL_TRL,
  .topBackCenter: SPA_AUDIO_CHANNEL_TRC, .topBackRight: SPA_AUDIO_CHANNEL_TRR,
  .topSideLeft: SPA_AUDIO_CHANNEL_TSL, .topSideRight: SPA_AUDIO_CHANNEL_TSR,
  .wideLeft: SPA_AUDIO_CHANNEL_FLW, .wideRight: SPA_AUDIO_CHANNEL_FRW,
  .lowFrequency2: SPA_AUDIO_CHANNEL_LFE2, .bottomFrontCenter: SPA_AUDIO_CHANNEL_BC,
  .bottomFrontLeft: SPA_AUDIO_CHANNEL_BLC, .bottomFrontRight: SPA_AUDIO_CHANNEL_BRC,
]

private let speakersByPosition: [UInt32: Speaker] = Dictionary(
  uniqueKeysWithValues: positions.map { ($0.value.rawValue, $0.key) })

extension ChannelLayout {
  /// The layout of channels at these positions; nil if a position is unknown or `values` is empty.
  init?(pipeWire values: [UInt32]) {
    if values == [SPA_AUDIO_CHANNEL_MONO.rawValue] {
      self = .mono
      return
    }
    let known = values.compactMap { speakersByPosition[$0] }
    guard !values.isEmpty, known.count == values.count else { return nil }
    self = .speakers(known)
  }

  /// The positions of a loudspeaker layout; nil for other layouts. Loudspeakers that PipeWire does
  /// not know are left out.
  var pipeWirePositions: [UInt32]? {
    guard case .speakers(let speakers) = self else { return nil }
    return speakers.compactMap { positions[$0]?.rawValue }
  }

  /// The value of `audio.position` for a loudspeaker layout, such as "FL,FR"; nil for other
  /// layouts. Loudspeakers that PipeWire does not know are left out.
  var pipeWireNames: String? {
    guard case .speakers(let speakers) = self else { return nil }
    return speakers.compactMap { names[$0] }.joined(separator: ",")
  }
}
