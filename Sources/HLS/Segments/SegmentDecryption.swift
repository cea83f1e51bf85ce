// SPDX-License-Identifier: Apache-2.0

private import CFFmpeg

/// Decryption of segments: AES-128 in cipher block chaining mode with PKCS #7 padding (RFC 8216,
/// section 4.3.2.4).
enum SegmentDecryption {
  enum Problem: Error, Equatable, CustomStringConvertible {
    case keyLength(Int)
    case vectorLength(Int)
    case length(Int)
    case padding
    case noMemory

    var description: String {
      switch self {
      case .keyLength(let count): "the key has \(count) bytes, not 16"
      case .vectorLength(let count): "the initialisation vector has \(count) bytes, not 16"
      case .length(let count):
        "the encrypted data have \(count) bytes, not a positive multiple of 16"
      case .padding:
        "the encrypted data are damaged, or the key or initialisation vector is wrong"
      case .noMemory: "there is not enough memory for decryption"
      }
    }
  }

  /// Decrypts a complete segment or initialisation section, and removes its padding.
  ///
  /// - Parameters:
  ///   - key: 16 bytes.
  ///   - vector: the initialisation vector, 16 bytes.
  /// - Throws: an error if an argument has the wrong length, if the padding is invalid, or if
  ///   memory runs out.
  static func decrypted(
    _ bytes: [UInt8], key: [UInt8], vector: [UInt8]
  ) throws(Problem) -> [UInt8] {
    guard key.count == 16 else { throw .keyLength(key.count) }
    guard vector.count == 16 else { throw .vectorLength(vector.count) }
    guard !bytes.isEmpty, bytes.count % 16 == 0, bytes.count / 16 <= Int(Int32.max) else {
      throw .length(bytes.count)
    }
    guard let cipher = av_aes_alloc() else { throw .noMemory }
    defer { av_free(UnsafeMutableRawPointer(cipher)) }
    var vector = vector
    var result = [UInt8](repeating: 0, count: bytes.count)
    av_aes_init(cipher, key, 128, 1)
    av_aes_crypt(cipher, &result, bytes, Int32(bytes.count / 16), &vector, 1)
    let padding = Int(result[result.count - 1])
    guard (1...16).contains(padding), result.suffix(padding).allSatisfy({ $0 == UInt8(padding) })
    else { throw .padding }
    result.removeLast(padding)
    return result
  }
}
