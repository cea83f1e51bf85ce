// SPDX-License-Identifier: Apache-2.0

/// Converts arrays of floats to the bytes of a cache file, and back.
///
/// The numbers are little-endian. The file contains, in this order:
///
/// - the magic `STILLFLT`
/// - the format version and the number of arrays (32 bits each)
/// - the key (two 64-bit words)
/// - the lengths of the arrays (32 bits each)
/// - the floats of all arrays
/// - the XXH64 hash of all preceding bytes
enum CacheEntry {
  static let largestBytes = 64 << 20
  private static let magic = Array("STILLFLT".utf8)
  private static let headerBytes = 32

  static func bytes(of arrays: [[Float]], key: DesignKey) -> [UInt8] {
    var bytes = magic
    bytes.reserveCapacity(headerBytes + arrays.reduce(8) { $0 + 4 + 4 * $1.count })
    append(UInt32(DesignKey.formatVersion), to: &bytes)
    append(UInt32(arrays.count), to: &bytes)
    for word in key.words { append(word, to: &bytes) }
    for array in arrays { append(UInt32(array.count), to: &bytes) }
    for array in arrays { array.withUnsafeBytes { bytes += $0 } }
    append(bytes.withUnsafeBytes { XXHash64.hash($0) }, to: &bytes)
    return bytes
  }

  /// Returns the arrays of an entry; nil if the bytes are not a valid entry for the key or a float
  /// is not finite.
  static func arrays(in bytes: [UInt8], key: DesignKey) -> [[Float]]? {
    bytes.withUnsafeBytes { bytes in
      guard bytes.count >= headerBytes + 8, bytes.starts(with: magic) else { return nil }
      let body = UnsafeRawBufferPointer(rebasing: bytes.dropLast(8))
      guard XXHash64.hash(body) == number(bytes, body.count, UInt64.self),
        number(bytes, 8, UInt32.self) == UInt32(DesignKey.formatVersion),
        (0...1).allSatisfy({ number(bytes, 16 + 8 * $0, UInt64.self) == key.words[$0] })
      else { return nil }
      let count = Int(number(bytes, 12, UInt32.self))
      var at = headerBytes + 4 * count
      guard at <= body.count else { return nil }
      var arrays: [[Float]] = []
      for index in 0..<count {
        let length = Int(number(bytes, headerBytes + 4 * index, UInt32.self))
        guard at + 4 * length <= body.count else { return nil }
        arrays.append(floats(bytes, at, length))
        at += 4 * length
      }
      return at == body.count && arrays.allSatisfy({ $0.allSatisfy(\.isFinite) }) ? arrays : nil
    }
  }

  private static func floats(_ bytes: UnsafeRawBufferPointer, _ at: Int, _ count: Int) -> [Float] {
    [Float](unsafeUninitializedCapacity: count) { target, initialized in
      UnsafeMutableRawBufferPointer(target).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: bytes[at..<at + 4 * count]))
      initialized = count
    }
  }

  private static func append<T: FixedWidthInteger>(_ value: T, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
  }

  private static func number<T: FixedWidthInteger>(
    _ bytes: UnsafeRawBufferPointer, _ at: Int, _ type: T.Type
  ) -> T {
    T(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: T.self))
  }
}
