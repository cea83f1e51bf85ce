// SPDX-License-Identifier: Apache-2.0

private import CZlib

/// The CRC-32 checksum of ISO/IEC 8802-3, as in Ethernet and gzip.
public enum CRC32 {
  public static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
    let bytes = Array(bytes)
    return UInt32(crc32_z(0, bytes, bytes.count))
  }
}
