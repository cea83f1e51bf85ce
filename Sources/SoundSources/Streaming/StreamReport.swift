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
  /// The positions of the missing sound, in seconds, without overlaps.
  private var holes: [Range<Double>] = []
  /// The duration of all missing sound that has been reported, in seconds. Each part of a gap
  /// counts once, even if it was reached more than once.
  var missingSeconds: Double { holes.reduce(0) { $0 + $1.upperBound - $1.lowerBound } }
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
    addHole(seconds..<seconds + length)
    let reason = reason.map { ": \($0)" } ?? ""
    warnings.append(
      "\(fixed(length, decimals: 2)) s of sound is missing at \(clockText(seconds))\(reason)")
  }

  private mutating func addHole(_ hole: Range<Double>) {
    var whole = hole
    for other in holes where other.overlaps(hole) {
      whole = min(whole.lowerBound, other.lowerBound)..<max(whole.upperBound, other.upperBound)
    }
    holes.removeAll { $0.overlaps(hole) }
    holes.append(whole)
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
