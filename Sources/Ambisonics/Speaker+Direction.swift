// SPDX-License-Identifier: Apache-2.0

public import Geometry

extension Speaker {
  /// Whether the loudspeaker reproduces only low-frequency effects.
  public var isLowFrequency: Bool { self == .lowFrequency || self == .lowFrequency2 }

  /// Returns the direction of the loudspeaker in a layout; nil for low-frequency effects.
  ///
  /// Most angles follow ITU-R BS.775-4, BS.2051-3 system J and, for 22.2, BS.2051-3 system H. A
  /// single pair of surrounds is at +-135 degrees if the layout contains neither `frontCenter` nor
  /// `frontLeftOfCenter`, as in quad; otherwise, it is at +-110 degrees.
  public func direction(in layout: [Speaker]) -> Direction? {
    let hasSides = layout.contains(.sideLeft) || layout.contains(.sideRight)
    let hasBacks = layout.contains(.backLeft) || layout.contains(.backRight)
    let isQuad = !layout.contains(.frontCenter) && !layout.contains(.frontLeftOfCenter)
    let lonePair = isQuad ? 135.0 : 110.0
    let isSystemH = layout.contains(.bottomFrontLeft) && layout.contains(.frontLeftOfCenter)
    let (front, ofCenter) = isSystemH ? (60.0, 30.0) : (30, 15)
    let side = hasSides && hasBacks ? 90 : lonePair
    let back = hasSides && hasBacks ? 135 : lonePair
    return switch self {
    case .frontLeft: Direction(azimuth: front)
    case .frontRight: Direction(azimuth: -front)
    case .frontCenter: Direction(azimuth: 0)
    case .lowFrequency, .lowFrequency2: nil
    case .backLeft: Direction(azimuth: back)
    case .backRight: Direction(azimuth: -back)
    case .sideLeft: Direction(azimuth: side)
    case .sideRight: Direction(azimuth: -side)
    case .frontLeftOfCenter: Direction(azimuth: ofCenter)
    case .frontRightOfCenter: Direction(azimuth: -ofCenter)
    case .wideLeft: Direction(azimuth: 60)
    case .wideRight: Direction(azimuth: -60)
    case .backCenter: Direction(azimuth: 180)
    case .topCenter: Direction(azimuth: 0, elevation: 90)
    case .topFrontLeft: Direction(azimuth: 45, elevation: 45)
    case .topFrontCenter: Direction(azimuth: 0, elevation: 45)
    case .topFrontRight: Direction(azimuth: -45, elevation: 45)
    case .topSideLeft: Direction(azimuth: 90, elevation: 45)
    case .topSideRight: Direction(azimuth: -90, elevation: 45)
    case .topBackLeft: Direction(azimuth: 135, elevation: 45)
    case .topBackCenter: Direction(azimuth: 180, elevation: 45)
    case .topBackRight: Direction(azimuth: -135, elevation: 45)
    case .bottomFrontCenter: Direction(azimuth: 0, elevation: -30)
    case .bottomFrontLeft: Direction(azimuth: 45, elevation: -30)
    case .bottomFrontRight: Direction(azimuth: -45, elevation: -30)
    }
  }
}
