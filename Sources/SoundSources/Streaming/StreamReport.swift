// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import HLS
private import Media
internal import Rendering

/// The warnings and news of a stream for its listener.
struct StreamReport {
  private(set) var warnings: [String] = []
  /// The rendition that was reported last.
  private(set) var rendition: Int?
  private var news: [(frame: Int, news: SourceNews)] = []

  mutating func noteDamage(before seconds: Double) {
    warnings.append(
      "some data before \(clockText(seconds)) could not be decoded "
        + "and was replaced by silence")
  }

  /// Reports missing sound if the gap is long enough to be audible.
  mutating func noteHole(of length: Double, at seconds: Double, reason: String?) {
    guard length >= 0.03 else { return }
    let reason = reason.map { ": \($0)" } ?? ""
    warnings.append(
      "\(fixed(length, decimals: 2)) s of sound are missing from \(clockText(seconds)) on\(reason)")
  }

  /// Reports a change of rendition at a frame. The first rendition has no reason.
  mutating func note(_ change: RenditionNews, of rendition: Int, at frame: Int) {
    var change = change
    if self.rendition == nil { change.reason = nil }
    self.rendition = rendition
    news.append((frame, .rendition(change)))
  }

  mutating func takeNews(upTo frame: Int) -> [SourceNews] {
    defer { news.removeAll { $0.frame <= frame } }
    return news.filter { $0.frame <= frame }.map(\.news)
  }
}
