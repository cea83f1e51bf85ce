// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import BluetoothTracking

/// Returns the bytes of a text in hexadecimal; blanks and line ends are ignored.
func hex(_ text: String) -> [UInt8] {
  let digits = text.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count - 1, by: 2).map {
    UInt8(digits[$0] << 4 | digits[$0 + 1])
  }
}

/// A packet that real AirPods sent, and the values in it.
struct AirPodsVector: Sendable, CustomTestStringConvertible {
  var name: String
  var packet: String
  var service: UInt64
  /// x, y, z, w of each report.
  var quaternions: [[Double]]
  var rate: [Double]?
  var gravity: [Double]?
  var microseconds: UInt64?
  var counters: [UInt32] = []

  var testDescription: String { name }

  /// Packets that owners published: bytes are facts of their devices.
  static let all = [
    AirPodsVector(
      name: "Pro 3, sequence 127",
      packet: """
        0400040017000000100044 0008 7F1003 3A3E0810 1A3A01 4876D870663C0000 03 0443 43C3E48600000000
        0E91 74EF 6EDB 0500 0000 1400 1B83 03F7 4DF9 F7FF 0C00 0400 98FD 6D02 2E02 AE407639 79030000
        """,
      service: 16, quaternions: [[-0.8668, -0.1293, -0.2857, 0.3877]], rate: [0.0098, 0, 0.0391],
      gravity: [-0.602, 0.606, 0.545], microseconds: 2_263_139_139, counters: [889]),
    AirPodsVector(
      name: "Pro 3, sequence 128",
      packet: """
        04000400170000001000450008 8001 1003 3A3E0810 1A3A01 F0A23D73663C0000 03 0443
        3C60E58600000000 0C91 87EF 79DB 0000 FAFF 0E00 1C83 03F7 4DF9 F9FF 0800 0300 98FD 6D02 2E02
        894A6539 81030000
        """,
      service: 16, quaternions: [[-0.8668, -0.1287, -0.2854, 0.3880]],
      rate: [0, -0.0117, 0.0273], microseconds: 2_263_179_324, counters: [897]),
    AirPodsVector(
      name: "Pro 2, older form on service 14",
      packet: """
        040004001700000010004300 08ec071001 1a3c0e00 01 90955daf86190000 03 0443 94049e6b01000000
        d5a2 0613 eb13 0300 f0ff 0100 6783 6783 6783 feff fdff 0700 b301 9c03 6500 48742c37 fd1e0000
        """,
      service: 14, quaternions: [[-0.7279, 0.1486, 0.1556, 0.6510]],
      gravity: [0.425, 0.902, 0.099]),
    AirPodsVector(
      name: "Pro 2, three reports",
      packet: """
        04000400170000001000C400 08121003
        3A3E08101A3A 01E8806317D4420000 03 0083 6C49594800000000 EBE4 7CB9 0000 FBFF 0000 0300
        CB84 03FD F8E0 0300 0100 0000 71FC 5D01 CAFE 779DAF3B 21000000
        3A3E08101A3A 015011C819D4420000 03 0083 3DE6594800000000 DDE4 76B9 0A00 0200 FDFF 0400
        CB84 03FD F8E0 0000 0000 0000 71FC 5E01 CAFE 09B2863B 29000000
        3A3E08101A3A 01B8A12C1CD4420000 03 0083 0E835A4800000000 E9E4 7FB9 0A00 0000 0000 0300
        CB84 03FD F8E0 0100 FFFF 0000 71FC 5E01 CAFE 6853593A 31000000
        """,
      service: 16,
      quaternions: [
        [-0.2116, -0.5509, 0, 0.8073], [-0.2120, -0.5511, 0.0003, 0.8071],
        [-0.2116, -0.5508, 0.0003, 0.8073],
      ], counters: [33, 41, 49]),
    AirPodsVector(
      name: "A3441, service 15",
      packet: """
        040004001700000010004400 087f1001 3a3e080f1a3a 01 80ed935e12010000 03 0083 1f76074600000000
        73ae c042 7cfa 9200 4c00 feff ab84 00e5 730e e4ff 2100 1900 4302 f202 6201 14e8843c a1020000
        """,
      service: 15, quaternions: [[-0.6371, 0.5215, -0.0431, 0.5659]],
      rate: [0.2852, 0.1484, -0.0039], gravity: [0.565, 0.736, 0.346]),
    AirPodsVector(
      name: "Pro 2 in motion, service 14",
      packet: """
        040004001700000010004400 080f1001 3a3e080e1a3a 01 109ac36a0e000000 03 0483 bc25f00400000000
        7292 5cf2 95e2 1400 2601 5fff 3800 04e2 50f2 e6ff 1500 2400 22fe ef02 0902 72394e3a 61000000
        """,
      service: 14, quaternions: [[-0.8559, -0.1066, -0.2298, 0.4508]],
      rate: [0.0391, 0.5742, -0.3145], gravity: [-0.467, 0.733, 0.509]),
    AirPodsVector(
      name: "Pro 2 at 20 ms, sequence 10607",
      packet: """
        040004001700000010004500 08ef521003 3a3e08101a3a 01 209bfbd4732d0000 03 0443
        9cd960af00000000
        63a9 79b8 8c38 fcff e7ff f6ff fa06 03fb 24f3 0200 fdff 0500 9001 f702 2f02 9e83a936 19220000
        """,
      service: 16, quaternions: [[-0.6767, -0.5588, 0.4418, 0.1861]], counters: [8729]),
  ]

  /// The first report after a start of Pro 2: its orientation does not agree with gravity.
  static let firstReport = hex(
    """
    040004001700000010004400 080F1003 3A3E08101A3A 01 98D33510D4420000 03 0082 FA72574800000000
    0000 0000 0000 0400 FEFF 0100 CB84 03FD F8E0 70FC 5C01 C802 71FC 5D01 CAFE DBF9B83B 09000000
    """)
}
