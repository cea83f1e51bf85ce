// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Finished designs on disk, so that they need not be made again.
///
/// Nothing that goes wrong here is an error: what cannot be read is designed, what cannot be
/// written is not kept. Several programs may use one folder at once: an entry is written aside,
/// brought to the disk and given its name in one step, so that a reader meets all of it or none.
///
/// ## Threading
/// May be used from any thread.
public struct DesignCache: Sendable {
  /// Bytes that all entries may take; the ones used longest ago go first.
  public static let largestBytes = 256 << 20

  let folder: String
  let limit: Int

  /// - Parameters:
  ///   - folder: made where it is missing.
  ///   - limit: bytes that all entries may take.
  public init(folder: String, limit: Int = DesignCache.largestBytes) {
    self.folder = folder
    self.limit = limit
  }

  /// The user's cache: `$STILLSTAGE_CACHE`, else `stillstage` in `$XDG_CACHE_HOME`, else in
  /// `~/.cache`; nil where `$STILLSTAGE_CACHE` is `off`, or where there is no such place.
  public static var standard: DesignCache? {
    standard { getenv($0).map { String(cString: $0) } }
  }

  static func standard(_ variable: (String) -> String?) -> DesignCache? {
    // Relative paths are ignored, as the XDG base directory specification has it.
    func folder(_ name: String) -> String? {
      variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    if let chosen = variable("STILLSTAGE_CACHE"), !chosen.isEmpty {
      return chosen.hasPrefix("/") ? DesignCache(folder: chosen) : nil
    }
    let caches = folder("XDG_CACHE_HOME") ?? folder("HOME").map { "\($0)/.cache" }
    return caches.map { DesignCache(folder: "\($0)/stillstage") }
  }

  /// What was stored under a key; nil where there is nothing, or nothing sound.
  func load(_ key: DesignKey) -> [[Float]]? {
    guard let bytes = CacheFile.read(path(key), atMost: CacheEntry.largestBytes),
      let arrays = CacheEntry.arrays(in: bytes, key: key)
    else { return nil }
    CacheFile.touch(path(key))
    return arrays
  }

  /// Keeps arrays under a key, in place of what was there.
  func store(_ arrays: [[Float]], _ key: DesignKey) {
    let bytes = CacheEntry.bytes(of: arrays, key: key)
    guard bytes.count <= min(CacheEntry.largestBytes, limit) else { return }
    CacheFile.makeFolder(folder)
    if CacheFile.replace(path(key), in: folder, with: bytes) { tidy(sparing: key) }
  }

  private static let ending = ".filters"

  func path(_ key: DesignKey) -> String { "\(folder)/\(key.name)\(Self.ending)" }

  /// Removes what was used longest ago until the rest fits, and what a killed writer left behind.
  private func tidy(sparing key: DesignKey) {
    let now = time(nil)
    var entries: [CacheFile.Found] = []
    for found in CacheFile.list(folder) {
      if found.name.hasSuffix(Self.ending) {
        entries.append(found)
      } else if found.name.hasPrefix(CacheFile.temporaryPrefix), found.seconds < now - 3600 {
        unlink("\(folder)/\(found.name)")
      }
    }
    entries.sort { ($0.seconds, $0.nanoseconds) < ($1.seconds, $1.nanoseconds) }
    var sum = entries.reduce(0) { $0 + $1.bytes }
    for entry in entries where sum > limit && entry.name != key.name + Self.ending {
      unlink("\(folder)/\(entry.name)")
      sum -= entry.bytes
    }
  }
}
