// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Writes the binary answer, little-endian and without padding.
///
/// | bytes | content |
/// |---|---|
/// | 8 | "STILSOFA" |
/// | 4 | UInt32 version, 1 |
/// | 4 | UInt32 T, bytes of text |
/// | 4 | UInt32 M, number of measurements |
/// | 4 | UInt32 N, samples per impulse response |
/// | 4 | UInt32 D, number of delays: 0, 2 or 2 M |
/// | 4 | Int32 declared side of receiver 0: 1 left, -1 right, 0 unknown |
/// | 8 | Float64 sample rate, Hz |
/// | 8 | Float64 ratio of the largest to the smallest energy of an impulse response |
/// | T | UTF-8 lines `key=value` |
/// | 24 M | Float64 x, y, z of each source in the listener's frame, metres |
/// | 4 D | Float32 delays, samples |
/// | 8 M N | Float32 impulse responses, measurement x receiver x sample |
func writeAnswer(_ file: SofaFile, _ content: CheckedContent) throws(Refusal) {
  var text = ""
  for (key, value) in file.description { text += "\(key)=\(oneLine(value))\n" }
  for note in content.notes { text += "note=\(oneLine(note))\n" }
  var header = Array("STILSOFA".utf8)
  for number in [
    1, text.utf8.count, file.measurements, file.samples, file.delays.count,
  ] {
    append(UInt32(number), to: &header)
  }
  append(Int32(declaredSide(file)), to: &header)
  append(content.sampleRate.bitPattern, to: &header)
  append(content.energyRatio.bitPattern, to: &header)
  header += Array(text.utf8)
  for position in content.positions {
    for axis in 0..<3 { append(position[axis].bitPattern, to: &header) }
  }
  header.withUnsafeBytes { writeAll($0, to: 1) }
  writeAll(UnsafeRawBufferPointer(file.delays.buffer), to: 1)
  writeAll(UnsafeRawBufferPointer(file.impulseResponses.buffer), to: 1)
}

private func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
  withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
}

/// Returns the declared side of receiver 0: 1 left, -1 right, 0 unknown. ReceiverPosition has R
/// receivers x C coordinates x 1 or M measurements; only the first measurement is used.
private func declaredSide(_ file: SofaFile) -> Int {
  let positions = file.receiverPositions
  guard positions.count >= 6, positions.count % 6 == 0 else { return 0 }
  let stride = positions.count / 6
  var (first, second) = (positions[1 * stride], positions[4 * stride])
  if positions.attribute("Type")?.lowercased() == "spherical" {
    (first, second) = (sideOfAzimuth(first, positions, 0), sideOfAzimuth(second, positions, 3))
  }
  return first > second ? 1 : first < second ? -1 : 0
}

/// Returns the coordinate y (left) of a receiver whose position is in spherical coordinates.
private func sideOfAzimuth(_ elevation: Double, _ positions: SofaArray, _ start: Int) -> Double {
  let stride = positions.count / 6
  let scale =
    (positions.attribute("Units") ?? "").lowercased().hasPrefix("rad") ? 1 : Double.pi / 180
  let (azimuth, radius) = (positions[start * stride], positions[(start + 2) * stride])
  return radius * sin(azimuth * scale) * cos(elevation * scale)
}
