// SPDX-License-Identifier: Apache-2.0

private import CRealtime

/// Real spherical harmonics in ACN order and SN3D scale, without the Condon-Shortley phase.
///
/// Y_lm = N_l|m| P_l|m|(sin elevation) T_m(azimuth), where P_lm is the associated Legendre function
/// of degree l and order m. T_m(a) is cos(m a) for m >= 0 and sin(|m| a) for m < 0.
/// N_lm = sqrt((2 - d_m0) (l - m)! / (l + m)!) with d_m0 = 1 for m = 0, else 0 [Nachbar, Zotter,
/// Deleflie, Sontacchi, "AmbiX", Ambisonics Symposium 2011, equations 2 to 5].
public enum SphericalHarmonics {
  /// The highest order that Stillstage supports.
  public static let maximumOrder = 7

  @_noLocks
  public static func channelCount(order: Int) -> Int { (order + 1) * (order + 1) }

  /// Returns the degree of the spherical harmonic that has the ACN index `channel`.
  public static func degree(ofChannel channel: Int) -> Int {
    var l = 0
    while (l + 1) * (l + 1) <= channel { l += 1 }
    return l
  }

  /// Returns the order, 0 to 7, of a soundfield with this number of channels; nil if there is no
  /// such order.
  public static func order(ofChannels channels: Int) -> Int? {
    (0...maximumOrder).first { channelCount(order: $0) == channels }
  }

  /// Returns the gains that encode a plane wave from the direction `v` [ACN, SN3D].
  ///
  /// - Parameters:
  ///   - order: 0 or more.
  ///   - v: a unit vector; x is front, y left, z up.
  /// - Returns: (order + 1)^2 values.
  public static func evaluate(order: Int, _ v: SIMD3<Double>) -> [Double] {
    var gains = [Double](repeating: 0, count: channelCount(order: order))
    // P_lm is computed without its factor cos^m(elevation), because c + i s = (x + i y)^m contains
    // this factor. There is therefore no singularity at the poles.
    var (c, s) = (1.0, 0.0)
    var sectoral = 1.0
    for m in 0...order {
      var (previous, current) = (0.0, sectoral)
      for l in m...order {
        if l > m {
          let next =
            (Double(2 * l - 1) * v.z * current - Double(l + m - 1) * previous) / Double(l - m)
          (previous, current) = (current, next)
        }
        let value = current * scale(degree: l, m)
        gains[l * l + l + m] = value * c
        if m > 0 { gains[l * l + l - m] = value * s }
      }
      sectoral *= Double(2 * m + 1)
      (c, s) = (c * v.x - s * v.y, s * v.x + c * v.y)
    }
    return gains
  }

  /// Returns the gains of `evaluate(order:_:)` in N3D scale.
  public static func evaluateN3D(order: Int, _ v: SIMD3<Double>) -> [Double] {
    var gains = evaluate(order: order, v)
    for l in 0...order {
      let scale = realtime_sqrt(Double(2 * l + 1))
      for c in (l * l)..<((l + 1) * (l + 1)) { gains[c] *= scale }
    }
    return gains
  }

  static func scale(degree l: Int, _ m: Int) -> Double {
    guard m > 0 else { return 1 }
    var ratio = 2.0
    for k in (l - m + 1)...(l + m) { ratio /= Double(k) }
    return realtime_sqrt(ratio)
  }

  /// Returns the ratio of N3D to SN3D scale for an ACN channel.
  public static func n3dOverSN3D(channel: Int) -> Double {
    realtime_sqrt(Double(2 * degree(ofChannel: channel) + 1))
  }
}
