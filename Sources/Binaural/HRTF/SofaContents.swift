// SPDX-License-Identifier: Apache-2.0

/// The decoded answer of `stillstage-sofa`. Its numbers are validated again, because that program
/// parses untrusted files.
struct SofaContents {
  /// The global attributes that `stillstage-sofa` reports, by name, and the file's M, R, N and
  /// SamplingRate.
  var attributes: [String: String]
  var notes: [String]
  var measurements: Int
  var taps: Int
  var sampleRate: Double
  /// The largest energy of any impulse response, divided by the smallest.
  var energyRatio: Double
  /// The ear that the file declares for channel 0: 1 left, -1 right, 0 undeclared.
  var declaredSide: Int
  /// The source positions (x front, y left, z up), in m.
  var positions: [SIMD3<Double>]
  /// The delays in samples: none, 2 (one for each channel) or measurements x 2.
  var delays: [Float]
  /// The impulse responses: measurements x 2 channels x taps.
  var impulseResponses: [Float]

  static let largestTotalSamples = 1 << 25
  static let largestMeasurements = 65_536
  static let largestTextBytes = 1 << 16
  static let largestAnswerBytes =
    48 + largestTextBytes + largestMeasurements * 32 + largestTotalSamples * 4

  /// Decodes a binary answer; nil if it is malformed or a value is out of range.
  init?(answer: [UInt8]) {
    var bytes = ByteReader(answer)
    guard bytes.take(8).elementsEqual("STILSOFA".utf8), bytes.number(UInt32.self) == 1,
      let textCount = bytes.number(UInt32.self).map(Int.init),
      let measurements = bytes.number(UInt32.self).map(Int.init),
      let taps = bytes.number(UInt32.self).map(Int.init),
      let delayCount = bytes.number(UInt32.self).map(Int.init),
      let side = bytes.number(UInt32.self),
      let rate = bytes.number(UInt64.self).map(Double.init(bitPattern:)),
      let ratio = bytes.number(UInt64.self).map(Double.init(bitPattern:))
    else { return nil }
    guard textCount <= Self.largestTextBytes, (1...Self.largestMeasurements).contains(measurements),
      (16...65_536).contains(taps), measurements * 2 * taps <= Self.largestTotalSamples,
      [0, 2, 2 * measurements].contains(delayCount), (8_000...384_000).contains(rate),
      (1...1e6).contains(ratio),
      bytes.rest == textCount + 24 * measurements + 4 * delayCount + 8 * measurements * taps
    else { return nil }
    let text = SofaText(bytes.take(textCount))
    let coordinates = bytes.array(of: Double.self, count: 3 * measurements)
    delays = bytes.array(of: Float.self, count: delayCount)
    impulseResponses = bytes.array(of: Float.self, count: 2 * measurements * taps)
    positions = (0..<measurements).map { index in
      SIMD3(coordinates[3 * index], coordinates[3 * index + 1], coordinates[3 * index + 2])
    }
    (attributes, notes) = (text.attributes, text.notes)
    (self.measurements, self.taps, sampleRate, energyRatio) = (measurements, taps, rate, ratio)
    declaredSide = Int(Int32(bitPattern: side).signum())
    guard positions.allSatisfy({ (0.04...101).contains(($0 * $0).sum().squareRoot()) }),
      delays.allSatisfy({ $0 >= 0 && $0 <= 65_536 }), impulseResponses.allSatisfy(\.isFinite)
    else { return nil }
  }
}

/// The `key=value` lines of an answer: notes (lines with the key `note`) and attributes.
struct SofaText {
  var attributes: [String: String] = [:]
  var notes: [String] = []

  init(_ bytes: ArraySlice<UInt8>) {
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let key = String(decoding: line[..<equals], as: UTF8.self)
      let value = withoutControlCharacters(
        String(decoding: line[line.index(after: equals)...], as: UTF8.self))
      if key == "note" { notes.append(value) } else { attributes[key] = value }
    }
  }
}

/// Reads bytes and little-endian numbers one after another from a byte array.
private struct ByteReader {
  private let bytes: [UInt8]
  private var next = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var rest: Int { bytes.count - next }

  /// Returns the next `count` bytes, or fewer at the end.
  mutating func take(_ count: Int) -> ArraySlice<UInt8> {
    let slice = bytes[next..<min(next + count, bytes.count)]
    next = slice.endIndex
    return slice
  }

  mutating func number<T: FixedWidthInteger>(_ type: T.Type) -> T? {
    let slice = take(MemoryLayout<T>.size)
    guard slice.count == MemoryLayout<T>.size else { return nil }
    return slice.reversed().reduce(0) { $0 << 8 | T($1) }
  }

  /// Returns the next `count` numbers. Enough bytes must remain.
  mutating func array<T: BinaryFloatingPoint>(of type: T.Type, count: Int) -> [T] {
    let slice = take(count * MemoryLayout<T>.stride)
    return slice.withUnsafeBytes { source in
      [T](unsafeUninitializedCapacity: count) { target, initialized in
        UnsafeMutableRawBufferPointer(target).copyMemory(from: source)
        initialized = count
      }
    }
  }
}
