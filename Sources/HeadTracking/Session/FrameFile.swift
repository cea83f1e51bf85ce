// SPDX-License-Identifier: Apache-2.0

/// A text file of a tracker's packets.
///
/// The first line is `stillstage-frames 1 PROTOCOL`, with a protocol such as `airpods`,
/// `galaxy-buds` or `profile:NAME`. Each following line is a packet: the time in seconds since the
/// first packet, `<` for received or `>` for sent, and the bytes in hexadecimal. Blank lines and
/// lines that begin with `#` are ignored.
package struct FrameFile: Sendable, Equatable {
  /// The protocol.
  package var source: String
  package var frames: [FrameCapture.Frame]

  package static let magic = "stillstage-frames 1"
  /// The largest accepted time of a packet, in seconds.
  private static let longest = 1e6

  /// Returns the first line for a protocol. Blanks in its name become underscores.
  package static func heading(_ source: String) -> String { "\(magic) \(word(source))\n" }

  /// Returns a name with underscores in place of blanks.
  package static func word(_ name: String) -> String {
    String(name.map { $0.isWhitespace ? "_" : $0 })
  }

  /// Returns the line of a packet.
  package static func line(_ frame: FrameCapture.Frame) -> String {
    let microseconds = Int((frame.time * 1e6).rounded())
    let fraction = String(microseconds % 1_000_000)
    let zeros = String(repeating: "0", count: 6 - fraction.count)
    let hex = frame.bytes.map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
    let direction = frame.direction.rawValue
    return "\(microseconds / 1_000_000).\(zeros)\(fraction) \(direction) \(hex)\n"
  }

  /// Reads a file's text. The path is for error messages.
  ///
  /// - Throws: `badMotionRow` if a line is invalid, or if the file is empty or has only comments.
  package init(_ text: String, path: String) throws(HeadTrackingError) {
    var source: String?
    frames = []
    // Splitting bytes is faster than splitting characters, and a capture can be large.
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      func invalid(_ reason: String) -> HeadTrackingError {
        .badMotionRow(path: path, line: index + 1, reason: reason)
      }
      let words = line.split { $0 == UInt8(ascii: " ") || $0 == 9 || $0 == 13 }
      guard let first = words.first, first.first != UInt8(ascii: "#") else { continue }
      if source == nil {
        guard words.count == 3, Substring(line).hasPrefix(Self.magic) else {
          throw invalid("expected '\(Self.magic)', then a protocol such as airpods")
        }
        source = String(Substring(words[2]))
        continue
      }
      // A packet can be empty, such as a UDP datagram without bytes.
      guard (2...3).contains(words.count), let time = Double(Substring(first)),
        (0...Self.longest).contains(time),
        words[1].count == 1, let mark = Substring(words[1]).first,
        let direction = FrameCapture.Direction(rawValue: mark),
        let bytes = words.count == 3 ? Self.bytes(words[2]) : []
      else {
        throw invalid("expected a time, '<' or '>', and hexadecimal bytes")
      }
      guard time >= frames.last?.time ?? 0 else { throw invalid("its time steps back") }
      frames.append(FrameCapture.Frame(time: time, direction: direction, bytes: bytes))
    }
    guard let source else {
      throw .badMotionRow(path: path, line: 1, reason: "the file is empty or has only comments")
    }
    self.source = source
  }

  private static func bytes(_ text: Substring.UTF8View) -> [UInt8]? {
    let digits = text.compactMap(digit)
    guard digits.count == text.count, digits.count % 2 == 0, digits.count <= 2 * 4096 else {
      return nil
    }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  /// Returns the value of a hexadecimal digit; nil for other bytes.
  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
