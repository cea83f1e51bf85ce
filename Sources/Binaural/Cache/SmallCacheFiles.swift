// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Names for entries of a cache.
package enum CacheName {
  /// Returns 32 hexadecimal digits that identify a list of texts.
  package static func of(_ texts: [String]) -> String {
    let bytes = texts.reduce(into: [UInt8]()) { $0 += Array($1.utf8) + [0] }
    return bytes.withUnsafeBytes { bytes in
      [1, 2].map { hexadecimal(XXHash64.hash(bytes, seed: $0)) }.joined()
    }
  }

  static func hexadecimal(_ word: UInt64) -> String {
    let digits = String(word, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension BinauralFilters {
  /// Sixteen hexadecimal digits that identify the filters and their equaliser. They do not depend
  /// on `planeWaves`.
  package var fingerprint: String {
    var hash = UInt64(bitPattern: Int64(order)) ^ sampleRate.bitPattern
    let bank = direct.map { $0.filters + [$0.gains] + ($0.crossed?.left ?? []) } ?? []
    for array in left + right + [equaliser ?? []] + bank {
      array.withUnsafeBytes { hash = XXHash64.hash($0, seed: hash &+ 1) }
    }
    return CacheName.hexadecimal(hash)
  }
}

/// An on-disk cache of short texts, one per file. It reports no errors: an entry that cannot be
/// read counts as missing, and a failed write has no effect.
package struct SmallCacheFiles: Sendable {
  private let folder: String
  private let ending: String
  private let limit: Int
  private static let largestBytes = 4096

  /// Creates a cache.
  ///
  /// - Parameters:
  ///   - folder: an absolute path. The folder is created when the first entry is stored.
  ///   - ending: the file name extension, including the dot.
  ///   - limit: the maximum number of entries. The least recently used entries are removed first.
  package init(folder: String, ending: String, limit: Int) {
    (self.folder, self.ending, self.limit) = (folder, ending, limit)
  }

  private func path(_ name: String) -> String { "\(folder)/\(name)\(ending)" }

  /// Returns the text stored under a name and marks the entry as just used; nil if there is no
  /// valid entry.
  package func load(_ name: String) -> String? {
    guard let bytes = CacheFile.read(path(name), atMost: Self.largestBytes) else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    guard lines.count == 2, lines[1] == CacheName.of([name, String(lines[0])]) else { return nil }
    CacheFile.touch(path(name))
    return String(lines[0])
  }

  /// Stores a text under a name, unless the entry exceeds 4096 bytes. The text must not be empty or
  /// contain line breaks.
  package func store(_ text: String, _ name: String) {
    let bytes = Array("\(text)\n\(CacheName.of([name, text]))\n".utf8)
    guard bytes.count <= Self.largestBytes else { return }
    CacheFile.makeFolder(folder)
    if CacheFile.replace(path(name), in: folder, with: bytes) { tidy() }
  }

  private func tidy() {
    var entries = CacheFile.list(folder).filter { $0.name.hasSuffix(ending) }
    guard entries.count > limit else { return }
    entries.sort { ($0.seconds, $0.nanoseconds) < ($1.seconds, $1.nanoseconds) }
    for entry in entries.prefix(entries.count - limit) { unlink("\(folder)/\(entry.name)") }
  }
}
