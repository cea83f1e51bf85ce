// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An on-disk cache of decoder designs and of HRTF sets as read from their files. It reports no
/// errors: an entry that cannot be read counts as missing, and a failed write has no effect.
///
/// Several processes may use a folder at the same time. None of them ever reads an incomplete
/// entry.
///
/// ## Threading
/// All members may be used from any thread.
public struct DesignCache: Sendable {
  /// The default limit on the total size of all entries, in bytes. The least recently used entries
  /// are removed first.
  public static let largestBytes = 256 << 20

  package let folder: String
  let limit: Int
  /// A folder of entries that is only read; nil if there is none.
  let supplied: String?

  /// Creates a cache.
  ///
  /// - Parameters:
  ///   - folder: an absolute path. The folder is created when the first entry is stored.
  ///   - limit: the maximum total size of all entries, in bytes.
  ///   - supplied: a folder in which to look for designs that `folder` does not have. It is only
  ///     read.
  public init(folder: String, limit: Int = DesignCache.largestBytes, supplied: String? = nil) {
    self.folder = folder
    self.limit = limit
    self.supplied = supplied
  }

  /// The user's cache in the first of these folders that is defined: `$STILLSTAGE_CACHE`,
  /// `$XDG_CACHE_HOME/stillstage`, `$HOME/.cache/stillstage`. Nil if none of them is defined, or if
  /// `$STILLSTAGE_CACHE` is set to anything but an absolute path, for example to `off`.
  ///
  /// Relative paths in the other variables are ignored. Empty variables count as not set.
  ///
  /// Designs that the cache does not have are read from the folder `designs` beside the running
  /// program. The installation puts the designs of the default settings there.
  public static var standard: DesignCache? {
    standard { getenv($0).map { String(cString: $0) } }
  }

  static func standard(_ variable: (String) -> String?) -> DesignCache? {
    // Relative paths are ignored, as the XDG base directory specification requires.
    func folder(_ name: String) -> String? {
      variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    if let chosen = variable("STILLSTAGE_CACHE"), !chosen.isEmpty {
      return chosen.hasPrefix("/") ? DesignCache(folder: chosen, supplied: suppliedFolder) : nil
    }
    let caches = folder("XDG_CACHE_HOME") ?? folder("HOME").map { "\($0)/.cache" }
    return caches.map { DesignCache(folder: "\($0)/stillstage", supplied: suppliedFolder) }
  }

  private static var suppliedFolder: String? { programDirectory().map { "\($0)/designs" } }

  /// Returns the arrays stored under a key in `folder` or, if it has no valid entry, in `supplied`;
  /// nil if neither has one. Marks an entry in `folder` as just used.
  func load(_ key: DesignKey) -> [[Float]]? {
    if let arrays = Self.arrays(in: folder, key) {
      CacheFile.touch(path(key))
      return arrays
    }
    return supplied.flatMap { Self.arrays(in: $0, key) }
  }

  private static func arrays(in folder: String, _ key: DesignKey) -> [[Float]]? {
    CacheFile.read(path(key, in: folder), atMost: CacheEntry.largestBytes)
      .flatMap { CacheEntry.arrays(in: $0, key: key) }
  }

  /// Stores arrays under a key, unless they exceed the size limits.
  func store(_ arrays: [[Float]], _ key: DesignKey) {
    let bytes = CacheEntry.bytes(of: arrays, key: key)
    guard bytes.count <= min(CacheEntry.largestBytes, limit) else { return }
    CacheFile.makeFolder(folder)
    if CacheFile.replace(path(key), in: folder, with: bytes) {
      tidy(sparing: key.name + Self.ending)
    }
  }

  /// Returns the bytes stored under a name and marks the entry as just used; nil if there is no
  /// valid entry.
  func loadBytes(_ name: String) -> [UInt8]? {
    let path = "\(folder)/\(name)\(Self.setEnding)"
    guard var bytes = CacheFile.read(path, atMost: CacheEntry.largestBytes), bytes.count > 8 else {
      return nil
    }
    let stored = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    bytes.removeLast(8)
    guard bytes.withUnsafeBytes({ XXHash64.hash($0) }) == stored else { return nil }
    CacheFile.touch(path)
    return bytes
  }

  /// Stores bytes under a name, unless they exceed the size limits.
  func store(_ bytes: [UInt8], _ name: String) {
    guard bytes.count + 8 <= min(CacheEntry.largestBytes, limit) else { return }
    CacheFile.makeFolder(folder)
    let hash = bytes.withUnsafeBytes { XXHash64.hash($0) }
    let entry = bytes + (0..<8).map { UInt8(truncatingIfNeeded: hash >> (56 - 8 * $0)) }
    let file = name + Self.setEnding
    if CacheFile.replace("\(folder)/\(file)", in: folder, with: entry) { tidy(sparing: file) }
  }

  private static let ending = ".filters"
  private static let setEnding = ".set"

  func path(_ key: DesignKey) -> String { Self.path(key, in: folder) }

  private static func path(_ key: DesignKey, in folder: String) -> String {
    "\(folder)/\(key.name)\(ending)"
  }

  /// Removes the least recently used entries until the total size is within the limit, but keeps
  /// the file `spared`. Also removes temporary files older than an hour, which killed programs may
  /// have left.
  private func tidy(sparing spared: String) {
    let now = time(nil)
    var entries: [CacheFile.Found] = []
    for found in CacheFile.list(folder) {
      if found.name.hasSuffix(Self.ending) || found.name.hasSuffix(Self.setEnding) {
        entries.append(found)
      } else if found.name.hasPrefix(CacheFile.temporaryPrefix), found.seconds < now - 3600 {
        unlink("\(folder)/\(found.name)")
      }
    }
    entries.sort { ($0.seconds, $0.nanoseconds) < ($1.seconds, $1.nanoseconds) }
    var sum = entries.reduce(0) { $0 + $1.bytes }
    for entry in entries where sum > limit && entry.name != spared {
      unlink("\(folder)/\(entry.name)")
      sum -= entry.bytes
    }
  }
}
