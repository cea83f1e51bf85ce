// SPDX-License-Identifier: Apache-2.0

import HLS

/// A connection's rate over time. The trace repeats after its end.
package struct BandwidthTrace: Sendable, Equatable {
  package let name: String
  /// The time at which each rate begins, in s, ascending from 0.
  package let times: [Double]
  /// The rates, in bit/s.
  package let rates: [Double]
  /// The time after which the trace repeats, in s.
  package let seconds: Double

  /// Creates a trace with one rate per second.
  init(name: String, kilobitsPerSecond: [Double]) {
    precondition(!kilobitsPerSecond.isEmpty, "a trace needs at least one rate")
    self.name = name
    times = kilobitsPerSecond.indices.map(Double.init)
    rates = kilobitsPerSecond.map { $0 * 1000 }
    seconds = Double(kilobitsPerSecond.count)
  }

  /// Parses rows `t,kbps`: times in s that ascend from 0, and rates in kbit/s.
  ///
  /// Header lines before the first row, blank lines and lines that begin with # are skipped. The
  /// last row lasts as long as the row before it; a single row lasts 1 s.
  ///
  /// - Throws: `BandwidthTraceError` if a row is invalid or if no rate is positive.
  package init(name: String, csv: String) throws(BandwidthTraceError) {
    var rows: [(time: Double, rate: Double)] = []
    for (index, line) in csv.split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline
    ).enumerated() {
      let cells = line.split(separator: ",", omittingEmptySubsequences: false).map(Self.trimmed)
      guard let first = cells.first, let digit = first.first,
        digit.isNumber || digit == "-" || digit == "."
      else {
        if line.allSatisfy(\.isWhitespace) || rows.isEmpty || line.hasPrefix("#") { continue }
        throw BandwidthTraceError(line: index + 1, "the line is not of the form t,kbps")
      }
      guard cells.count >= 2, let time = Double(first), let rate = Double(cells[1]), time.isFinite,
        rate.isFinite, rate >= 0, rate < 1e9
      else {
        throw BandwidthTraceError(
          line: index + 1, "the line is not of the form t,kbps with 0 <= kbps < 1e9")
      }
      guard rows.isEmpty ? time == 0 : time > rows[rows.count - 1].time else {
        throw BandwidthTraceError(line: index + 1, "the times must start at 0 and increase")
      }
      rows.append((time, rate * 1000))
    }
    guard let last = rows.last, rows.contains(where: { $0.rate > 0 }) else {
      throw BandwidthTraceError(line: nil, "it has no row t,kbps with a rate above 0")
    }
    self.name = name
    times = rows.map(\.time)
    rates = rows.map(\.rate)
    seconds = rows.count > 1 ? 2 * last.time - rows[rows.count - 2].time : 1
  }

  private static func trimmed(_ text: Substring) -> String {
    String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }

  /// Returns the rate at a time, in bit/s, and the time until which that rate applies. Times are in
  /// s.
  package func rate(at time: Double) -> (bitsPerSecond: Double, until: Double) {
    let round = (time / seconds).rounded(.down)
    let place = time - round * seconds
    var low = 0
    var high = times.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if times[middle] <= place + 1e-9 { low = middle } else { high = middle }
    }
    let end = low + 1 < times.count ? times[low + 1] : seconds
    return (rates[low], round * seconds + end)
  }

  /// Simulates sending `bits` bits from `start` on, until all are sent or until `limit`. Returns
  /// the time at which sending ends and the number of bits sent. Times are in s.
  func send(_ bits: Double, from start: Double, until limit: Double) -> (time: Double, bits: Double)
  {
    var time = start
    var sent = 0.0
    while time < limit - 1e-9 {
      let (rate, change) = rate(at: time)
      let end = min(max(change, time + 1e-6), limit)
      let carried = rate * (end - time)
      if sent + carried >= bits - 1e-6 {
        return (rate > 0 ? min(end, time + (bits - sent) / rate) : end, bits)
      }
      sent += carried
      time = end
    }
    return (time, sent)
  }
}

/// The reason why a trace file is invalid.
package struct BandwidthTraceError: Error, Sendable, Equatable, CustomStringConvertible {
  package let line: Int?
  package let reason: String

  init(line: Int?, _ reason: String) {
    self.line = line
    self.reason = reason
  }

  package var description: String { (line.map { "line \($0): " } ?? "") + reason }
}
