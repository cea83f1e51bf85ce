// SPDX-License-Identifier: Apache-2.0

/// A segment of coded sound in its own container.
public struct CodedSegment: Sendable, Equatable {
  /// The name for messages. Its file extension may help to identify the format.
  public var name: String
  /// The bytes to read before the segment, such as a `moov` box.
  public var initialisation: [UInt8]
  public var bytes: [UInt8]
  /// The time of the first frame, in seconds; nil to use the timestamps of the container, if it has
  /// any.
  public var time: Double?

  public init(name: String, initialisation: [UInt8] = [], bytes: [UInt8], time: Double? = nil) {
    self.name = name
    self.initialisation = initialisation
    self.bytes = bytes
    self.time = time
  }
}

/// The byte source through which libavformat reads a segment.
final class SegmentBytes: ByteSource {
  let name: String
  private let parts: [[UInt8]]
  private let size: Int
  private var position = 0

  init(_ segment: CodedSegment) {
    name = segment.name
    parts = [segment.initialisation, segment.bytes].filter { !$0.isEmpty }
    size = parts.reduce(0) { $0 + $1.count }
  }

  var byteCount: Int64? { Int64(size) }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(MediaError) -> Int {
    var start = 0
    for part in parts {
      let end = start + part.count
      if position < end {
        let count = min(buffer.count, end - position)
        part.withUnsafeBytes { bytes in
          buffer.copyMemory(from: .init(rebasing: bytes[(position - start)...].prefix(count)))
        }
        position += count
        return count
      }
      start = end
    }
    return 0
  }

  func seek(to offset: Int64) -> Bool {
    guard (0...Int64(size)).contains(offset) else { return false }
    position = Int(offset)
    return true
  }
}
