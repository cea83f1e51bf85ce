// SPDX-License-Identifier: Apache-2.0

/// Numbered fragments of one rendition that a download program has left without a usable playlist,
/// such as `out000.ts`, `0001.m4s` or `title.mp4.part-Frag12`.
struct FragmentSeries: Sendable, Equatable {
  struct Fragment: Sendable, Equatable {
    var number: Int
    /// Absolute path.
    var path: String
  }

  /// Absolute path of the folder.
  var folder: String
  /// The common part of the file names before the number.
  var prefix: String
  /// The fragments in order of their numbers.
  var fragments: [Fragment]

  private struct Name: Hashable {
    var folder: String
    var prefix: String
    var suffix: String
  }

  /// File name extensions of fragments, in lower case.
  private static let kinds: Set = [
    "ts", "m4s", "mp4", "m4a", "m4f", "m4v", "cmfa", "cmfv", "aac", "ac3", "ec3", "eac3", "mp3",
    "frag", "clip",
  ]

  /// Finds the series among files. The series with the most fragments comes first. A series has at
  /// least two fragments, all with different numbers.
  ///
  /// - Parameter paths: absolute paths, in any order.
  static func all(in paths: [String]) -> [FragmentSeries] {
    var found: [Name: [Fragment]] = [:]
    for path in paths {
      let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
      let name = String(path.dropFirst(folder.count + 1)).withoutSavedQuery
      guard let (prefix, number, suffix) = parts(of: name) else { continue }
      found[Name(folder: folder, prefix: prefix, suffix: suffix), default: []].append(
        Fragment(number: number, path: path))
    }
    let series = found.compactMap { name, fragments -> FragmentSeries? in
      let sorted = fragments.sorted { ($0.number, $0.path) < ($1.number, $1.path) }
      let isUnique = zip(sorted, sorted.dropFirst()).allSatisfy { $0.number < $1.number }
      guard sorted.count > 1, isUnique else { return nil }
      return FragmentSeries(folder: name.folder, prefix: name.prefix, fragments: sorted)
    }
    return series.sorted {
      ($1.fragments.count, $0.folder, $0.prefix) < ($0.fragments.count, $1.folder, $1.prefix)
    }
  }

  /// Splits a file name around its last number. Only `_dec` and the extension may follow this
  /// number. Returns nil if the text is not the name of a fragment.
  private static func parts(of name: String) -> (prefix: String, number: Int, suffix: String)? {
    var (stem, suffix) = (name[...], "")
    if let dot = name.lastIndex(of: "."), kinds.contains(name[dot...].dropFirst().lowercased()) {
      (stem, suffix) = (name[..<dot], String(name[dot...]))
    } else if !name.contains(".part-Frag") {
      return nil
    }
    // N_m3u8DL-RE appends "_dec" to the names of decrypted fragments.
    let core = stem.hasSuffix("_dec") ? stem.dropLast(4) : stem
    suffix = String(stem[core.endIndex...]) + suffix
    let digits = core.reversed().prefix { $0.isASCII && $0.isNumber }.count
    guard digits > 0, let number = Int(core.suffix(digits)) else { return nil }
    return (String(core.dropLast(digits)), number, suffix)
  }
}

extension String {
  /// This file name without the query that `wget` keeps in it. The query follows a `?` or, in names
  /// for Windows, an `@` after the file name extension.
  var withoutSavedQuery: String {
    if let mark = firstIndex(of: "?") { return String(self[..<mark]) }
    guard let mark = lastIndex(of: "@"), let dot = self[..<mark].lastIndex(of: "."),
      self[mark...].contains("="), (1...4).contains(distance(from: dot, to: mark) - 1)
    else { return self }
    return String(self[..<mark])
  }
}
