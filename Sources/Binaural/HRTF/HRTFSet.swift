// SPDX-License-Identifier: Apache-2.0

/// Head-related impulse responses of one listener: left and right ear over measured directions.
public struct HRTFSet: Sendable {
  /// What the set calls itself, for people.
  public var name: String
  /// The file it was read from; nil for a computed set.
  public var path: String?
  /// Hz.
  public var sampleRate: Double
  /// Unit vectors to the sources: x front, y left, z up.
  public var directions: [SIMD3<Double>]
  /// Metres from the centre of the head to the sources; infinite for plane waves.
  public var radius: Double
  /// Samples of an impulse response.
  public var taps: Int
  /// directions x 2 ears (left, right) x taps, flat.
  public var impulseResponses: [Float]
  /// directions x 2 ears, flat: samples at `sampleRate` by which a response comes later still;
  /// negative: earlier.
  public var delays: [Double]
  /// What the user should be told of the set, a sentence each.
  public var notes: [String]

  /// A set of `directions.count` directions; the arrays must have the sizes of their properties.
  public init(
    name: String, path: String? = nil, sampleRate: Double, directions: [SIMD3<Double>],
    radius: Double, taps: Int, impulseResponses: [Float], delays: [Double], notes: [String] = []
  ) {
    precondition(impulseResponses.count == directions.count * 2 * taps)
    precondition(delays.count == directions.count * 2)
    self.name = name
    self.path = path
    self.sampleRate = sampleRate
    self.directions = directions
    self.radius = radius
    self.taps = taps
    self.impulseResponses = impulseResponses
    self.delays = delays
    self.notes = notes
  }

  /// Where the response of a direction and an ear (0 left, 1 right) starts in `impulseResponses`.
  public func offset(direction: Int, ear: Int) -> Int { (direction * 2 + ear) * taps }

  /// The response of a direction and an ear (0 left, 1 right): `taps` samples, without its delay.
  public func impulseResponse(direction: Int, ear: Int) -> ArraySlice<Float> {
    let start = offset(direction: direction, ear: ear)
    return impulseResponses[start..<start + taps]
  }

  /// The index of the direction nearest to a vector.
  public func nearestDirection(to vector: SIMD3<Double>) -> Int {
    var (best, index) = (-Double.infinity, 0)
    for (i, direction) in directions.enumerated() {
      let cosine = (direction * vector).sum()
      if cosine > best { (best, index) = (cosine, i) }
    }
    return index
  }
}
