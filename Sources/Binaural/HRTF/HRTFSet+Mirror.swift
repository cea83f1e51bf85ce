// SPDX-License-Identifier: Apache-2.0

extension HRTFSet {
  /// Whether every direction has a mirror image in the median plane at which the other ear hears
  /// the same (to -100 dB), as in sets of which one ear was measured.
  public var isMirrored: Bool {
    guard let images = mirrorImages else { return false }
    for (direction, image) in images.enumerated() {
      if abs(delays[2 * direction] - delays[2 * image + 1]) > 1e-3 { return false }
      let (left, right) = (
        impulseResponse(direction: direction, ear: 0), impulseResponse(direction: image, ear: 1)
      )
      var (energy, rest) = (0.0, 0.0)
      for (a, b) in zip(left, right) {
        energy += Double(a) * Double(a)
        rest += Double(a - b) * Double(a - b)
      }
      if rest > 1e-10 * energy { return false }
    }
    return true
  }

  /// For every direction the index of its mirror image; nil where one has none.
  private var mirrorImages: [Int]? {
    var places: [SIMD3<Int64>: Int] = [:]
    for (index, direction) in directions.enumerated() { places[Self.place(direction)] = index }
    var images: [Int] = []
    for direction in directions {
      guard let image = places[Self.place(direction * SIMD3(1, -1, 1))] else { return nil }
      images.append(image)
    }
    return images
  }

  private static func place(_ v: SIMD3<Double>) -> SIMD3<Int64> {
    SIMD3(Int64((v.x * 1e5).rounded()), Int64((v.y * 1e5).rounded()), Int64((v.z * 1e5).rounded()))
  }
}

extension BinauralFilters {
  /// The left ear's filters for both ears: what a channel that changes its sign in the mirror (m <
  /// 0) brings to the left ear comes to the right one with the opposite sign.
  ///
  /// A set that is its own mirror image leads to such filters but for rounding, which magnitude
  /// least squares carries far; exact ones cost half (`PartitionedConvolver.isSymmetric`).
  public func mirrored() -> BinauralFilters {
    let right = left.enumerated().map { channel, filter in
      let degree = Int(Double(channel).squareRoot())
      return channel - degree * degree < degree ? filter.map { -$0 } : filter
    }
    return BinauralFilters(order: order, sampleRate: sampleRate, left: left, right: right)
  }
}
