// SPDX-License-Identifier: Apache-2.0

extension HRTFSet {
  /// Whether the set is its own mirror image in the median plane.
  ///
  /// The set must contain the mirror image of every direction. The left ear's response to a
  /// direction must equal the right ear's response to the mirror image: the difference may have at
  /// most 10^-10 of the response's energy, and the delays may differ by at most 0.001 samples.
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

  /// The index of each direction's mirror image; nil if the set lacks any of these images.
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
  /// Returns these filters with the right ear's filters replaced by copies of the left ear's. The
  /// copies are negated for the channels whose spherical harmonic is antisymmetric from left to
  /// right (m < 0).
  ///
  /// Exactly symmetric filters reduce the cost of the convolution
  /// (`PartitionedConvolver.isSymmetric`).
  public func mirrored() -> BinauralFilters {
    let right = left.enumerated().map { channel, filter in
      let degree = Int(Double(channel).squareRoot())
      return channel - degree * degree < degree ? filter.map { -$0 } : filter
    }
    return BinauralFilters(order: order, sampleRate: sampleRate, left: left, right: right)
  }
}
