// SPDX-License-Identifier: Apache-2.0

import HLS

extension AdaptationFigures {
  /// Averages the figures of several connections. An optional figure is averaged over the
  /// connections that have it.
  package init(meanOf figures: [AdaptationFigures]) {
    self.init(figures) { $0.reduce(0, +) / Double($0.count) }
  }

  /// Takes the median of each figure over several runs. The median of an optional figure is taken
  /// over the runs that have it. For an even number of values, it is the larger of the middle two.
  package init(medianOf figures: [AdaptationFigures]) {
    self.init(figures) { $0.sorted()[$0.count / 2] }
  }

  private init(_ figures: [AdaptationFigures], _ summary: ([Double]) -> Double) {
    func summarised(_ value: (AdaptationFigures) -> Double?) -> Double? {
      let values = figures.compactMap(value)
      return values.isEmpty ? nil : summary(values)
    }
    stallPercent = summarised(\.stallPercent) ?? 0
    flipsPerMinute = summarised(\.flipsPerMinute) ?? 0
    multichannelPercent = summarised(\.multichannelPercent) ?? 0
    restoreSeconds = summarised(\.restoreSeconds)
    startSeconds = summarised(\.startSeconds)
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
          "\(rule.rawValue) stalls and flips less, plays more multichannel "
            + "and restores it sooner")
      }
    }
    if let rival = others[.gstreamer], flipsPerMinute >= rival.flipsPerMinute {
      missed.append("flips are at least as frequent as with GStreamer's rule")
    }
    return missed
  }

  /// Returns whether stalls, flips, multichannel time and the time to restore multichannel are all
  /// better than in `other`. An unknown time to restore counts as 0.
  func isBetter(than other: AdaptationFigures) -> Bool {
    stallPercent < other.stallPercent && flipsPerMinute < other.flipsPerMinute
      && multichannelPercent > other.multichannelPercent
      && restoreSeconds ?? 0 < other.restoreSeconds ?? 0
  }
}
