// SPDX-License-Identifier: Apache-2.0

private import CZlib

/// The checksum of Ethernet, gzip and many devices: CRC-32 of ISO/IEC 8802-3.
public enum CRC32 {
  /// The checksum of bytes; 0 for none.
  public static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
    let bytes = Array(bytes)
    return UInt32(crc32_z(0, bytes, bytes.count))
  }
}
