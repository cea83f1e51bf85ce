// SPDX-License-Identifier: Apache-2.0

internal import Binaural
private import Glibc
internal import Loudness
internal import Rendering

/// Complete loudness measurements on disk. The cache reports no errors.
///
/// Each entry is a small file. Several programs may use the folder at the same time.
struct LoudnessCache: Sendable {
  /// Identifies a measurement by the sound, the filters and the settings that affect the loudness
  /// at the ears.
  struct Key {
    let name: String

    /// - Parameter identity: `SoundSource.stableIdentity`.
    init(_ identity: String, filters: BinauralFilters, settings: RenderSettings) {
      name = CacheName.of([
        "loudness 2", identity, filters.fingerprint, "\(settings.busOrder)",
        settings.spatialization.rawValue, settings.upmix.rawValue, "\(settings.playback)",
      ])
    }
  }

  private let files: SmallCacheFiles

  /// Creates a cache.
  ///
  /// - Parameters:
  ///   - folder: an absolute path. The folder is created, if necessary, when an entry is stored.
  ///   - limit: the maximum number of entries. The least recently used entries are removed first.
  init(folder: String, limit: Int = 2000) {
    files = SmallCacheFiles(folder: folder, ending: ".loudness", limit: limit)
  }

  /// The user's cache, in the folder of `DesignCache.standard`; nil if there is no such folder.
  static var standard: LoudnessCache? {
    DesignCache.standard.map { LoudnessCache(folder: $0.folder) }
  }

  /// Returns the measurement that was stored under a key; nil if there is no valid entry.
  func load(_ key: Key) -> LoudnessMeasurement? {
    guard let text = files.load(key.name) else { return nil }
    let fields = text.split(separator: " ", omittingEmptySubsequences: false)
    guard fields.count == 3, let ears = Double(fields[0]), ears.isFinite else { return nil }
    func level(_ field: Substring) -> Double? { Double(field).flatMap { $0.isFinite ? $0 : nil } }
    return LoudnessMeasurement(ears: ears, source: level(fields[1]), truePeak: level(fields[2]))
  }

  /// Stores the levels of a measurement as text, with `-` for a level that is nil.
  func store(_ measurement: LoudnessMeasurement, _ key: Key) {
    func text(_ level: Double?) -> String { level.map { "\($0)" } ?? "-" }
    files.store(
      "\(measurement.ears) \(text(measurement.source)) \(text(measurement.truePeak))", key.name)
  }
}
