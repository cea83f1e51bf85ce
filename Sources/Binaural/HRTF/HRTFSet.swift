// SPDX-License-Identifier: Apache-2.0

/// The head-related impulse responses of both ears of one listener.
public struct HRTFSet: Sendable {
  /// The name of the set, for display.
  public var name: String
  /// The path of the SOFA file; nil for a computed set.
  public var path: String?
  /// The sample rate, in Hz.
  public var sampleRate: Double
  /// Unit vectors to the sources: x front, y left, z up.
  public var directions: [SIMD3<Double>]
  /// The distance from the centre of the head to the sources, in m; infinite for plane waves.
  public var radius: Double
  /// The length of an impulse response, in samples.
  public var taps: Int
  /// The impulse responses in one array: directions x 2 ears (left, right) x taps.
  public var impulseResponses: [Float]
  /// The delays that the impulse responses do not include, in samples at `sampleRate`, in one
  /// array: directions x 2 ears (left, right). They may be negative.
  public var delays: [Double]
  /// Facts about the set for the user, one sentence each.
  public var notes: [String]

  /// Creates a set. Each array must have the size that is documented for its property.
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

  /// Returns the index in `impulseResponses` at which the response of an ear (0 left, 1 right) to a
  /// direction starts.
  public func offset(direction: Int, ear: Int) -> Int { (direction * 2 + ear) * taps }

  /// Returns the indices in `impulseResponses` of both ears' responses to a range of directions.
  func samples(of directions: Range<Int>) -> Range<Int> {
    2 * taps * directions.lowerBound..<2 * taps * directions.upperBound
  }

  /// Returns the response of an ear (0 left, 1 right) to a direction: `taps` samples, without the
  /// delay in `delays`.
  public func impulseResponse(direction: Int, ear: Int) -> ArraySlice<Float> {
    let start = offset(direction: direction, ear: ear)
    return impulseResponses[start..<start + taps]
  }

  /// Returns the index of the direction at the smallest angle to a vector, which may have any
  /// length except 0.
  public func nearestDirection(to vector: SIMD3<Double>) -> Int {
    var (best, index) = (-Double.infinity, 0)
    for (i, direction) in directions.enumerated() {
      let cosine = (direction * vector).sum()
      if cosine > best { (best, index) = (cosine, i) }
    }
    return index
  }
}
