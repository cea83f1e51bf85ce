// SPDX-License-Identifier: Apache-2.0

/// Finds the names of headphones that are similar to what the user typed.
enum ParametricNames {
  /// Returns up to three names: the first ones that contain all words in `word`. If there are none,
  /// returns the most similar ones, whose letter pairs have a Dice coefficient of at least 0.5.
  static func near(_ word: String, _ names: [String]) -> [String] {
    let words = word.lowercased().split { !$0.isLetter && !$0.isNumber }
    let holding = names.filter { name in
      let lower = name.lowercased()
      return !words.isEmpty && words.allSatisfy { lower.contains($0) }
    }
    if !holding.isEmpty { return Array(holding.prefix(3)) }
    let typed = pairs(word)
    let scored = names.map { name -> (name: String, share: Double) in
      let own = pairs(name)
      return (name, 2 * Double(typed.intersection(own).count) / Double(typed.count + own.count))
    }
    return scored.filter { $0.share >= 0.5 }.sorted { $0.share > $1.share }.prefix(3).map(\.name)
  }

  private static func pairs(_ text: String) -> Set<String> {
    let letters = text.lowercased().filter { $0.isLetter || $0.isNumber }.map { String($0) }
    return Set(zip(letters, letters.dropFirst()).map { $0 + $1 })
  }
}
