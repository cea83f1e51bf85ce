// SPDX-License-Identifier: Apache-2.0

package import HLS

/// An adaptation rule's quality for the listener. docs/adaptation.md defines each figure.
package struct AdaptationFigures: Sendable, Equatable {
  /// Stalled time, in percent of the time from the first sound to the end.
  package var stallPercent: Double
  /// Changes between multichannel and stereo per minute.
  package var flipsPerMinute: Double
  /// Time with multichannel sound, in percent of the time from the first sound to the end.
  package var multichannelPercent: Double
  /// The mean time, in s, for which stereo plays although the connection has recovered. The mean
  /// is over the stretches of stereo in which this happens; nil if there are none.
  package var restoreSeconds: Double?
  /// Time from opening to the first sound, in s; nil if nothing played.
  package var startSeconds: Double?

  /// The connection has recovered if its rate stays at or above `recoveredRatio` times the bit rate
  /// of the cheapest multichannel rendition for at least `reliableSeconds`.
  static let recoveredRatio = 1.3
  static let reliableSeconds = 8.0

  package init(
    _ result: SimulationResult, trace: BandwidthTrace, ladder: Ladder, seconds: Double
  ) {
    let total = result.heard.reduce(0) { $0 + $1.seconds }
    func isMultichannel(_ rendition: Int) -> Bool { ladder[rendition].isMultichannel }
    func percent(_ seconds: Double) -> Double { total > 0 ? 100 * seconds / total : 0 }
    stallPercent = percent(
      result.heard.filter { $0.rendition == nil }.reduce(0) { $0 + $1.seconds })
    multichannelPercent = percent(
      result.heard.filter { $0.rendition.map(isMultichannel) ?? false }.reduce(0) {
        $0 + $1.seconds
      })
    startSeconds = result.startSeconds
    let turns = Self.turns(result.heard, isMultichannel)
    flipsPerMinute = total > 0 ? Double(max(0, turns.count - 1)) / (total / 60) : 0
    let need = ladder.firstMultichannel.map { Self.recoveredRatio * ladder[$0].bitRate }
    let recovered = Self.recovered(trace, above: need ?? .infinity, seconds: seconds)
    var waits: [Double] = []
    for (index, turn) in turns.enumerated() where !turn.isMultichannel {
      let end = index + 1 < turns.count ? turns[index + 1].time : seconds
      let wait = recovered.reduce(0) { sum, span in
        sum + max(0, min(end, span.upperBound) - max(turn.time, span.lowerBound))
      }
      if wait > 0 { waits.append(wait) }
    }
    restoreSeconds = waits.isEmpty ? nil : waits.reduce(0, +) / Double(waits.count)
  }

  /// Returns the start of each stretch of stereo or multichannel sound. A stall does not end a
  /// stretch.
  private static func turns(
    _ heard: [HeardStretch], _ isMultichannel: (Int) -> Bool
  ) -> [(time: Double, isMultichannel: Bool)] {
    var turns: [(time: Double, isMultichannel: Bool)] = []
    for stretch in heard {
      guard let rendition = stretch.rendition else { continue }
      let kind = isMultichannel(rendition)
      if turns.last?.isMultichannel != kind { turns.append((stretch.start, kind)) }
    }
    return turns
  }

  private static func recovered(
    _ trace: BandwidthTrace, above rate: Double, seconds: Double
  ) -> [ClosedRange<Double>] {
    var spans: [ClosedRange<Double>] = []
    var start: Double?
    var time = 0.0
    func close(at end: Double) {
      if let start, end - start >= reliableSeconds - 1e-9 { spans.append(start...end) }
    }
    while time < seconds {
      let (now, until) = trace.rate(at: time)
      if now >= rate {
        start = start ?? time
      } else {
        close(at: time)
        start = nil
      }
      time = max(until, time + 1e-6)
    }
    close(at: seconds)
    return spans
  }
}
