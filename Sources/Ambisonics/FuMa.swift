// SPDX-License-Identifier: Apache-2.0

/// The Furse-Malham convention, for orders 0 to 3 [Malham, "Higher order Ambisonic systems", 2003].
///
/// W is 3 dB lower than in SN3D. Every other component is scaled to a maximum of 1 (maxN).
public enum FuMa {
  /// The ACN index of each FuMa channel, in the order W X Y Z R S T U V K L M N O P Q.
  public static let ambisonicChannels = [0, 3, 1, 2, 6, 7, 5, 8, 4, 12, 13, 11, 14, 10, 15, 9]

  /// The gains that convert the FuMa channels to SN3D, in FuMa order.
  public static let gainsToSN3D: [Double] = {
    let (w, s, l) = (2.0.squareRoot(), 3.0.squareRoot() / 2, (32.0 / 45.0).squareRoot())
    let (n, p) = (5.0.squareRoot() / 3, (5.0 / 8.0).squareRoot())
    return [w, 1, 1, 1, 1, s, s, s, s, 1, l, l, n, n, p, p]
  }()
}

extension AmbisonicConvention {
  /// Returns, for each ambisonic channel in stream order, its ACN index and its gain for the
  /// conversion to SN3D.
  ///
  /// - Parameter order: the ambisonic order; at most 3 for FuMa.
  public func conversion(order: Int) -> [(channel: Int, gain: Double)] {
    (0..<SphericalHarmonics.channelCount(order: order)).map { c in
      switch self {
      case .ambiX: (c, 1)
      case .n3d: (c, 1 / SphericalHarmonics.n3dOverSN3D(channel: c))
      case .fuMa: (FuMa.ambisonicChannels[c], FuMa.gainsToSN3D[c])
      }
    }
  }
}
