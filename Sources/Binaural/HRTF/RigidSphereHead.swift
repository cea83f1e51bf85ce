// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A model of a head as a rigid sphere with two points as ears, without pinnae or torso.
///
/// The responses are computed by the method of Duda and Martens, J. Acoust. Soc. Am. 104, 3048
/// (1998). By default, the ears are at azimuths of 100 and -100 degrees (C. P. Brown and R. O.
/// Duda, IEEE Trans. Speech Audio Process. 6(5), 1998).
public struct RigidSphereHead: Sendable {
  /// The radius of the sphere, in m.
  public var headRadius = 0.0875
  /// The angle from the front to either ear, in degrees.
  public var earAzimuth = 100.0
  /// The distance from the centre of the head to the sources, in m: at least 1.5 times
  /// `headRadius`; infinite for plane waves.
  public var sourceDistance = Double.infinity
  /// The speed of sound, in m/s.
  public var speedOfSound = 343.0
  /// The approximate difference in elevation between adjacent rings of directions, in degrees. The
  /// directions on a ring have about the same spacing.
  public var ringSpacing = 5.0

  /// The time, in ms, from the start of a response until sound would reach the centre of the head
  /// if the head were absent.
  static let centreArrivalMilliseconds = 1.25
  static let durationMilliseconds = 16.0 / 3
  /// The upper frequency limit of the responses, in Hz. At sample rates below 48 kHz, the limit is
  /// half the sample rate. The taper of the spectra begins at `taperStart` times the limit.
  static let bandLimit = 24_000.0
  static let taperStart = 0.85

  public init() {}

  /// Returns the head's impulse responses to the directions of `rings(spacing:)`. All `delays` are
  /// zero.
  ///
  /// - Parameter sampleRate: 8000 to 384000 Hz.
  public func hrtfSet(sampleRate: Double) -> HRTFSet {
    precondition(
      (8_000...384_000).contains(sampleRate),
      "the sample rate of \(sampleRate) Hz is outside the range of 8 to 384 kHz")
    precondition(
      sourceDistance >= 1.5 * headRadius,
      "the source is less than 1.5 head radii from the centre of the head")
    let directions = Self.rings(spacing: ringSpacing)
    let taps = Int((sampleRate * Self.durationMilliseconds / 1000).rounded(.up))
    let orders = orderResponses(taps: taps, sampleRate: sampleRate)
    let azimuth = earAzimuth * .pi / 180
    let leftEar = SIMD3(cos(azimuth), sin(azimuth), 0)
    let rightEar = SIMD3(cos(azimuth), -sin(azimuth), 0)
    var responses: [Float] = []
    responses.reserveCapacity(directions.count * 2 * taps)
    for direction in directions {
      responses += response(cosine: (direction * leftEar).sum(), orders, taps)
      responses += response(cosine: (direction * rightEar).sum(), orders, taps)
    }
    return HRTFSet(
      name: "rigid sphere", sampleRate: sampleRate, directions: directions, radius: sourceDistance,
      taps: taps, impulseResponses: responses,
      delays: [Double](repeating: 0, count: directions.count * 2),
      notes: ["the head is a smooth sphere without pinnae, so elevation is hard to hear"])
  }

  /// Returns directions on rings of constant elevation, symmetric left to right and front to back.
  static func rings(spacing: Double) -> [SIMD3<Double>] {
    let steps = Int((180 / spacing).rounded())
    return (0...steps).flatMap { ring -> [SIMD3<Double>] in
      let elevation = Double(ring) * .pi / Double(steps) - .pi / 2
      let radius = ring == 0 || ring == steps ? 0 : cos(elevation)
      // The number of directions on a ring is a multiple of four, so that the ring includes front,
      // left, back and right. A pole has one direction.
      let count = max(1, 4 * Int((radius * 2 * Double(steps) / 4).rounded()))
      return (0..<count).map { step in
        let azimuth = 2 * .pi * Double(step) / Double(count)
        return SIMD3(radius * cos(azimuth), radius * sin(azimuth), sin(elevation))
      }
    }
  }

  /// Returns the coefficients of the Legendre polynomials P0, P1, ... in the time domain: orders x
  /// taps.
  private func orderResponses(taps: Int, sampleRate: Double) -> [[Double]] {
    let sphere = SphereTransferFunction(
      radius: headRadius, sourceDistance: sourceDistance, speedOfSound: speedOfSound)
    // The transform is four times as long as a response, so that ringing after the end of the
    // response does not alias into it.
    let size = 4 * taps
    let limit = min(Self.bandLimit, sampleRate / 2)
    let arrival = Self.centreArrivalMilliseconds / 1000
    let turns = (0..<size).map { cos(2 * .pi * Double($0) / Double(size)) }
    var orders: [[Double]] = []
    for bin in 0...Int(limit * Double(size) / sampleRate) {
      let frequency = Double(bin) * sampleRate / Double(size)
      let weight = (bin == 0 ? 1 : 2) * Self.taper(frequency / limit) / Double(size)
      let (c, s) = (cos(2 * .pi * frequency * arrival), -sin(2 * .pi * frequency * arrival))
      for (order, term) in sphere.coefficients(frequency: frequency).enumerated() {
        if order == orders.count { orders.append([Double](repeating: 0, count: taps)) }
        let (re, im) = (weight * (term.re * c - term.im * s), weight * (term.re * s + term.im * c))
        orders[order].withUnsafeMutableBufferPointer { response in
          turns.withUnsafeBufferPointer { turns in
            var phase = 0
            for n in 0..<taps {
              // The value of sin(x) = cos(x - pi / 2) precedes that of cos(x) by a quarter of the
              // table.
              let quarter = phase < taps ? phase + 3 * taps : phase - taps
              response[n] += re * turns[phase] - im * turns[quarter]
              phase += bin
              if phase >= size { phase -= size }
            }
          }
        }
      }
    }
    return orders
  }

  private static func taper(_ place: Double) -> Double {
    guard place > taperStart else { return 1 }
    return 0.5 + 0.5 * cos(.pi * min(1, (place - taperStart) / (1 - taperStart)))
  }

  private func response(cosine: Double, _ orders: [[Double]], _ taps: Int) -> [Float] {
    var sum = [Double](repeating: 0, count: taps)
    sum.withUnsafeMutableBufferPointer { sum in
      var (p, lastP, m) = (1.0, 0.0, 0.0)
      for order in orders {
        order.withUnsafeBufferPointer { order in
          for n in 0..<taps { sum[n] += p * order[n] }
        }
        (lastP, p) = (p, ((2 * m + 1) * cosine * p - m * lastP) / (m + 1))
        m += 1
      }
    }
    return sum.map { Float($0) }
  }

  /// The parameters in the format of HRTF/rigid-sphere.json, which contains the default values.
  var parametersJSON: String {
    """
    {
      "model": "rigid sphere, Duda and Martens 1998, JASA 104:3048",
      "headRadiusMetres": \(headRadius),
      "earAzimuthDegrees": [\(earAzimuth), \(-earAzimuth)],
      "sourceDistanceMetres": \(sourceDistance.isInfinite ? "null" : "\(sourceDistance)"),
      "speedOfSoundMetresPerSecond": \(speedOfSound),
      "ringSpacingDegrees": \(ringSpacing),
      "directions": \(Self.rings(spacing: ringSpacing).count),
      "durationMilliseconds": \(decimal(Self.durationMilliseconds, digits: 3)),
      "centreArrivalMilliseconds": \(Self.centreArrivalMilliseconds),
      "bandLimitHertz": \(Self.bandLimit),
      "taperStartOfBandLimit": \(Self.taperStart)
    }

    """
  }
}
