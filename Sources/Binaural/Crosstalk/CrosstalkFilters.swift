// SPDX-License-Identifier: Apache-2.0

private import CRealtime
package import SignalProcessing

/// Filters that convert two ear signals to two loudspeaker signals and cancel crosstalk.
public struct CrosstalkFilters: Sendable, Equatable {
  /// The filters from the left ear's signal to the left and the right loudspeaker; 2 x taps.
  public let leftEar: [[Float]]
  /// The filters from the right ear's signal to the left and the right loudspeaker; 2 x taps.
  public let rightEar: [[Float]]
  /// The delay of each of these filters, in frames.
  public let delayFrames: Int
  /// The sample rate, in Hz.
  public let sampleRate: Double

  /// Returns a decoder's filters combined with these crosstalk filters, so that their outputs are
  /// the loudspeaker signals instead of the ear signals. The delay of the crosstalk filters is
  /// removed.
  ///
  /// - Parameters:
  ///   - left: the decoder's filters for the left ear, inputs x taps.
  ///   - right: the decoder's filters for the right ear, inputs x taps.
  /// - Returns: inputs x taps for each loudspeaker.
  func behind(_ left: [[Float]], _ right: [[Float]]) -> (left: [[Float]], right: [[Float]]) {
    func feed(_ side: Int) -> [[Float]] {
      let own = folded(left, with: leftEar[side])
      let other = folded(right, with: rightEar[side])
      return zip(own, other).map { a, b in
        let count = max(a.count, b.count)
        return (min(delayFrames, count - 1)..<count).map { n in
          (n < a.count ? a[n] : 0) + (n < b.count ? b[n] : 0)
        }
      }
    }
    return (feed(0), feed(1))
  }
}

/// The responses of both ears to two loudspeakers in front of the listener, bin by bin.
package struct LoudspeakerPlant {
  /// The sample rate, in Hz.
  let sampleRate: Double
  let size: Int
  /// The responses: 2 loudspeakers x 2 ears x bins, left before right.
  package let values: [[[Complex]]]

  package var binWidth: Double { sampleRate / Double(size) }
  package var bins: Int { size / 2 + 1 }

  /// The positions of the loudspeakers, and the position and orientation of the head.
  package struct Placement: Sendable, Equatable {
    /// The angle from the front to either loudspeaker, in radians.
    var angle: Double
    /// The distance from either loudspeaker to the intended position of the head's centre, in m.
    var distance = 0.55
    /// The displacement of the head from its intended position, to the front and to the left, in m.
    var offset = SIMD2(0.0, 0.0)
    /// The angle by which the head is turned to the left, in radians.
    var turn = 0.0

    package init(angle: Double, offset: SIMD2<Double> = SIMD2(0, 0), turn: Double = 0) {
      (self.angle, self.offset, self.turn) = (angle, offset, turn)
    }
  }

  /// Computes a set's responses for a placement.
  ///
  /// - Parameters:
  ///   - set: a set that was prepared for the playback rate.
  ///   - placement: the loudspeakers and the head. Level and delay change with the distance of the
  ///     head from each loudspeaker; at the intended distance, they are those of the set.
  ///   - size: the size of the transform.
  package init(_ set: HRTFSet, _ placement: Placement, size: Int) {
    sampleRate = set.sampleRate
    self.size = size
    let between = SphericalInterpolation(set.directions)
    let values = [1.0, -1.0].map { side -> [[Complex]] in
      let place = SIMD3(
        placement.distance * realtime_cos(placement.angle) - placement.offset.x,
        side * placement.distance * realtime_sin(placement.angle) - placement.offset.y, 0)
      let away = place.length
      let (c, s) = (realtime_cos(placement.turn), realtime_sin(placement.turn))
      let v = SIMD3(place.x * c + place.y * s, place.y * c - place.x * s, 0) / away
      return Self.responses(
        set, between.weights(at: v), v, size: size, gain: placement.distance / away,
        late: (away - placement.distance) / GapFilling.speedOfSound)
    }
    self.values = values
  }

  private static func responses(
    _ set: HRTFSet, _ weights: [(direction: Int, weight: Double)], _ v: SIMD3<Double>, size: Int,
    gain: Double, late: Double
  ) -> [[Complex]] {
    let samples = weights.flatMap { known in
      (0...1).flatMap { set.impulseResponse(direction: known.direction, ear: $0) }
    }
    let known = DirectionalResponses(
      impulseResponses: samples, taps: set.taps,
      directions: weights.map { set.directions[$0.direction] }, weights: weights.map(\.weight),
      sampleRate: set.sampleRate, size: size)
    return (0...1).map { ear in
      (0..<known.bins).map { k in
        let turn = 2 * Double.pi * Double(k) * known.binWidth
        var sum = Complex(0)
        for d in known.directions.indices {
          let early = GapFilling.arrival(known.directions[d], ear: ear)
          sum += known[k, ear, d] * Complex(angle: turn * early) * known.weights[d]
        }
        return sum * Complex(angle: -turn * (GapFilling.arrival(v, ear: ear) + late)) * gain
      }
    }
  }
}
