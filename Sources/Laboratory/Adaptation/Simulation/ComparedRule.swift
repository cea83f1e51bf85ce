// SPDX-License-Identifier: Apache-2.0

package import HLS

/// The rules that `bench adaptation` compares.
package enum ComparedRule: String, Sendable, CaseIterable {
  case stillstage
  case hlsJS = "hls.js"
  case exoPlayer = "ExoPlayer"
  case shaka = "Shaka"
  case bola = "BOLA"
  case gstreamer = "GStreamer"

  package func simulate(
    _ trace: BandwidthTrace, _ ladder: Ladder, _ conditions: SimulationConditions = .init()
  ) -> SimulationResult {
    func run(_ rule: some AdaptationRule) -> SimulationResult {
      var simulator = Simulator(trace: trace, ladder: ladder, rule: rule, conditions: conditions)
      return simulator.run()
    }
    return switch self {
    case .stillstage: run(RenditionChoice(ladder: ladder))
    case .hlsJS: run(HLSJSRule(ladder: ladder))
    case .exoPlayer: run(ExoPlayerRule(ladder: ladder))
    case .shaka: run(ShakaRule(ladder: ladder))
    case .bola: run(BOLARule(ladder: ladder))
    case .gstreamer: run(GStreamerRule(ladder: ladder))
    }
  }
}

extension Ladder {
  /// Two stereo and two multichannel renditions: 53, 133, 200 and 330 kbit/s.
  package static let bench = Ladder(
    [(53, false), (133, false), (200, true), (330, true)].map { kilobits, isMultichannel in
      Rendition(uri: "\(kilobits)", bitRate: kilobits * 1000, isMultichannel: isMultichannel)
    })
}
