// SPDX-License-Identifier: Apache-2.0

/// Suggests a correction for a misspelt word.
enum NearMatch {
  /// Returns the candidate that the user probably meant; nil if no candidate is similar. If `word`
  /// has at least 2 letters and exactly one candidate begins with it, returns this candidate.
  /// Otherwise, returns the most similar one. Case is ignored.
  static func of(_ word: String, among candidates: [String]) -> String? {
    let typed = Array(word.lowercased())
    let begun = candidates.filter { $0.lowercased().starts(with: typed) }
    if typed.count >= 2, begun.count == 1 { return begun[0] }
    let scored = candidates.map { ($0, distance(typed, Array($0.lowercased()))) }
    // Of equally similar words, prefer the longest: users omit letters more often than they replace
    // them.
    guard
      let best = scored.min(by: { ($0.1, -$0.0.count) < ($1.1, -$1.0.count) })
    else { return nil }
    return best.1 <= max(1, best.0.count / 3) && best.1 < best.0.count ? best.0 : nil
  }

  /// Returns the least number of edits that convert one word into the other if no letter is edited
  /// twice (optimal string alignment). An edit inserts, deletes or replaces a letter, or swaps two
  /// adjacent letters.
  static func distance(_ a: [Character], _ b: [Character]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        let replaced = last[j] + (a[i] == b[j] ? 0 : 1)
        var cost = min(replaced, last[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          cost = min(cost, beforeLast[j - 1] + 1)
        }
        row.append(cost)
      }
      beforeLast = last
      last = row
    }
    return last[b.count]
  }
}
