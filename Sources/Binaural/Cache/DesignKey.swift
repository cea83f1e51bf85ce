// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Identifies a cached design by the set's content, the settings of the design and the running
/// program.
struct DesignKey: Equatable {
  /// Two 64-bit hashes of the same data with different seeds.
  let words: [UInt64]

  /// Increase this version when the format or the meaning of an entry changes.
  static let formatVersion: UInt64 = 1

  /// Hashes the inputs of a design.
  ///
  /// - Parameters:
  ///   - set: the set before resampling.
  ///   - sampleRate: the playback rate, in Hz.
  ///   - settings: all other settings that affect the filters.
  init(set: HRTFSet, sampleRate: Double, settings: String) {
    var hash = RunningHash()
    hash.add(Self.formatVersion)
    for number in Self.program { hash.add(number) }
    hash.add(settings)
    hash.add(sampleRate.bitPattern)
    hash.add(set.sampleRate.bitPattern)
    hash.add(set.radius.bitPattern)
    hash.add(UInt64(set.taps))
    set.directions.withUnsafeBytes { hash.add($0) }
    set.delays.withUnsafeBytes { hash.add($0) }
    set.impulseResponses.withUnsafeBytes { hash.add($0) }
    words = hash.words
  }

  /// The name of the entry's file without its extension: 32 hexadecimal digits.
  var name: String {
    words.map(CacheName.hexadecimal).joined()
  }

  /// The size and modification time of the running program; empty if unknown. They distinguish
  /// builds, which may compute different filters from the same inputs.
  private static let program: [UInt64] = {
    var status = stat()
    guard stat("/proc/self/exe", &status) == 0 else { return [] }
    return [
      UInt64(bitPattern: Int64(status.st_size)), UInt64(bitPattern: Int64(status.st_mtim.tv_sec)),
      UInt64(bitPattern: Int64(status.st_mtim.tv_nsec)),
    ]
  }()
}

/// Two hashes of all added data, with different initial seeds. The hash of the data so far
/// determines the seed for the next data.
private struct RunningHash {
  private(set) var words: [UInt64] = [1, 2]

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    words = words.map { XXHash64.hash(bytes, seed: $0 &+ UInt64(bytes.count)) }
  }

  mutating func add(_ number: UInt64) {
    withUnsafeBytes(of: number.littleEndian) { add($0) }
  }

  mutating func add(_ text: String) { Array(text.utf8).withUnsafeBytes { add($0) } }
}
