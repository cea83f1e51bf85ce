// SPDX-License-Identifier: Apache-2.0

private import CRealtime
package import SignalProcessing

/// Filters from two ear signals to two loudspeakers, such that each ear hears its own signal.
public struct CrosstalkFilters: Sendable, Equatable {
  /// What the left ear's signal feeds: left loudspeaker, right loudspeaker; taps.
  public let leftEar: [[Float]]
  /// What the right ear's signal feeds: left loudspeaker, right loudspeaker; taps.
  public let rightEar: [[Float]]
  /// Frames by which all of them are late.
  public let delayFrames: Int
  /// Hz.
  public let sampleRate: Double

  /// A decoder's filters with these behind them, without the delay.
  ///
  /// - Parameters:
  ///   - left: inputs x taps, for the left ear.
  ///   - right: inputs x taps, for the right ear.
  /// - Returns: for the left and the right loudspeaker.
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

/// What two loudspeakers in front of a listener bring to the ears, bin by bin.
package struct LoudspeakerPlant {
  /// Hz.
  let sampleRate: Double
  let size: Int
  /// 2 loudspeakers x 2 ears x bins.
  package let values: [[[Complex]]]

  package var binWidth: Double { sampleRate / Double(size) }
  package var bins: Int { size / 2 + 1 }

  /// Where the loudspeakers and the head are.
  package struct Placement: Sendable, Equatable {
    /// Radians from the front to either side.
    var angle: Double
    /// Metres from the middle of the head's intended place.
    var distance = 0.55
    /// Metres to the front and to the left by which the head is off its place.
    var offset = SIMD2(0.0, 0.0)
    /// Radians by which the head is turned to the left.
    var turn = 0.0

    package init(angle: Double, offset: SIMD2<Double> = SIMD2(0, 0), turn: Double = 0) {
      (self.angle, self.offset, self.turn) = (angle, offset, turn)
    }
  }

  /// - Parameters:
  ///   - set: prepared for the playing rate; responses between its directions are interpolated,
  ///     each advanced by its arrival time at a sphere.
  ///   - placement: the response falls with the distance and comes later with it; at the intended
  ///     place it is the set's own.
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
