// SPDX-License-Identifier: Apache-2.0

/// XXH64, a hash that detects accidental damage but not forgery (Collet, "xxHash fast digest
/// algorithm", version 0.1.1).
struct XXHash64 {
  private static let primes: [UInt64] = [
    0x9E37_79B1_85EB_CA87, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x85EB_CA77_C2B2_AE63,
    0x27D4_EB2F_1656_67C5,
  ]

  static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
    let (p1, p2, p3, p4, p5) = (primes[0], primes[1], primes[2], primes[3], primes[4])
    var at = 0
    var hash: UInt64
    if bytes.count >= 32 {
      var (a, b, c, d) = (seed &+ p1 &+ p2, seed &+ p2, seed, seed &- p1)
      while at + 32 <= bytes.count {
        a = round(a, word(bytes, at))
        b = round(b, word(bytes, at + 8))
        c = round(c, word(bytes, at + 16))
        d = round(d, word(bytes, at + 24))
        at += 32
      }
      hash = rotated(a, 1) &+ rotated(b, 7) &+ rotated(c, 12) &+ rotated(d, 18)
      for lane in [a, b, c, d] { hash = (hash ^ round(0, lane)) &* p1 &+ p4 }
    } else {
      hash = seed &+ p5
    }
    hash = hash &+ UInt64(bytes.count)
    while at + 8 <= bytes.count {
      hash = rotated(hash ^ round(0, word(bytes, at)), 27) &* p1 &+ p4
      at += 8
    }
    if at + 4 <= bytes.count {
      let half = UInt64(bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self).littleEndian)
      hash = rotated(hash ^ (half &* p1), 23) &* p2 &+ p3
      at += 4
    }
    while at < bytes.count {
      hash = rotated(hash ^ (UInt64(bytes[at]) &* p5), 11) &* p1
      at += 1
    }
    hash = (hash ^ (hash >> 33)) &* p2
    hash = (hash ^ (hash >> 29)) &* p3
    return hash ^ (hash >> 32)
  }

  @inline(__always)
  private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
    rotated(lane &+ input &* 0xC2B2_AE3D_27D4_EB4F, 31) &* 0x9E37_79B1_85EB_CA87
  }

  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, _ at: Int) -> UInt64 {
    bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self).littleEndian
  }

  @inline(__always)
  private static func rotated(_ x: UInt64, _ bits: UInt64) -> UInt64 {
    x << bits | x >> (64 - bits)
  }
}
