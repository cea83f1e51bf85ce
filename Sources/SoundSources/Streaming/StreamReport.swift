// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import HLS
private import Media
internal import Rendering

/// The warnings and news of a stream for the listener.
struct StreamReport {
  private(set) var warnings: [String] = []
  /// The rendition that was reported last; nil before the first report.
  private(set) var rendition: Int?
  /// The missing sound, in seconds, by its position in tenths of a second.
  private var holes: [Int: Double] = [:]
  /// The duration of all missing sound that has been reported, in seconds. Gaps that were reported
  /// at the same position count once.
  var missingSeconds: Double { holes.values.reduce(0, +) }
  private var news: [(frame: Int, news: SourceNews)] = []

  /// Adds warnings from the supply.
  mutating func add(_ texts: [String]) { warnings += texts }

  /// Adds a warning that sound before a time, in seconds, was missing or damaged.
  mutating func noteDamage(before seconds: Double) {
    warnings.append(
      "some sound before \(clockText(seconds)) was missing or damaged "
        + "and was replaced by silence")
  }

  /// Adds a warning about missing sound if the gap lasts at least 0.03 s. Times are in seconds.
  mutating func noteHole(of length: Double, at seconds: Double, reason: String?) {
    guard length >= 0.03 else { return }
    holes[Int((10 * seconds).rounded())] = length
    let reason = reason.map { ": \($0)" } ?? ""
    warnings.append(
      "\(fixed(length, decimals: 2)) s of sound is missing at \(clockText(seconds))\(reason)")
  }

  /// Adds a change of rendition to the news, without a reason for the first rendition.
  mutating func note(_ change: RenditionNews, of rendition: Int, at frame: Int) {
    var change = change
    if self.rendition == nil { change.reason = nil }
    self.rendition = rendition
    news.append((frame, .rendition(change)))
  }

  /// Returns and removes the news up to a frame, oldest first.
  mutating func takeNews(upTo frame: Int) -> [SourceNews] {
    defer { news.removeAll { $0.frame <= frame } }
    return news.filter { $0.frame <= frame }.map(\.news)
  }
}
