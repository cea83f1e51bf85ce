// SPDX-License-Identifier: Apache-2.0

import HLS

extension AdaptationFigures {
  /// Averages the figures of several connections. An optional figure is averaged over the
  /// connections that have it.
  package init(meanOf figures: [AdaptationFigures]) {
    func mean(_ value: (AdaptationFigures) -> Double?) -> Double? {
      let values = figures.compactMap(value)
      return values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
    }
    stallPercent = mean(\.stallPercent) ?? 0
    flipsPerMinute = mean(\.flipsPerMinute) ?? 0
    multichannelPercent = mean(\.multichannelPercent) ?? 0
    restoreSeconds = mean(\.restoreSeconds)
    startSeconds = mean(\.startSeconds)
  }

  /// Returns a clause, such as "stalls are above 0.25 %", for each missed goal.
  ///
  /// - Parameter others: the mean figures of the other rules.
  package func missedGoals(others: [ComparedRule: AdaptationFigures]) -> [String] {
    var missed: [String] = []
    if stallPercent > 0.25 { missed.append("stalls are above 0.25 %") }
    if flipsPerMinute > 0.6 { missed.append("flips are above 0.6 per minute") }
    if multichannelPercent < 70 { missed.append("multichannel is below 70 %") }
    if restoreSeconds ?? 0 > 12 { missed.append("restoring multichannel takes more than 12 s") }
    for rule in ComparedRule.allCases {
      guard let other = others[rule] else { continue }
      if other.isBetter(than: self) {
        missed.append(
          "\(rule.rawValue) is better in stalls, flips, share of multichannel and restoring it")
      }
    }
    if let rival = others[.gstreamer], flipsPerMinute >= rival.flipsPerMinute {
      missed.append("flips are not below those of GStreamer's rule")
    }
    return missed
  }

  /// Returns whether these figures are better in stalls, flips, multichannel time and time to
  /// restore it. An unknown time to restore counts as 0.
  func isBetter(than other: AdaptationFigures) -> Bool {
    stallPercent < other.stallPercent && flipsPerMinute < other.flipsPerMinute
      && multichannelPercent > other.multichannelPercent
      && restoreSeconds ?? 0 < other.restoreSeconds ?? 0
  }
}
