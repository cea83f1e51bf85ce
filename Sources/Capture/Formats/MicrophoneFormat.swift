// SPDX-License-Identifier: Apache-2.0

public import Ambisonics

/// The meaning of a microphone's channels.
public enum MicrophoneFormat: Sendable, Equatable {
  case mono
  case stereo
  /// A first-order soundfield in ACN order and SN3D scale.
  case ambiX
  /// A first-order soundfield in Furse-Malham order and scale.
  case fuMa
  /// The signals of four capsules at the corners of a tetrahedron.
  case aFormat(TetrahedralMicrophone)
  /// Other channels, recorded as they are.
  case plain(channels: Int)

  public var channelCount: Int {
    switch self {
    case .mono: 1
    case .stereo: 2
    case .ambiX, .fuMa, .aFormat: 4
    case .plain(let channels): channels
    }
  }

  /// The layout of the recording. All soundfields are recorded in ACN order and SN3D scale.
  public var layout: ChannelLayout {
    switch self {
    case .mono: .mono
    case .stereo: .stereo
    case .ambiX, .fuMa, .aFormat: .ambisonics(order: 1, convention: .ambiX, headLocked: false)
    case .plain(let channels): .unknown(channels: channels)
    }
  }

  /// Whether the recording is a first-order soundfield.
  public var isSoundfield: Bool {
    switch self {
    case .ambiX, .fuMa, .aFormat: true
    case .mono, .stereo, .plain: false
    }
  }

  /// The channels that receive the sound if the source has only one channel, or if only one of its
  /// channels is selected.
  var single: SingleChannel {
    switch self {
    case .aFormat: .allCapsules
    case .ambiX, .fuMa: .first
    case .mono, .stereo, .plain: .all
    }
  }
}

/// A capsule of a tetrahedral microphone, named after its direction.
public enum Capsule: String, Sendable, Equatable, CaseIterable {
  case frontLeftUp = "flu"
  case frontRightDown = "frd"
  case backLeftDown = "bld"
  case backRightUp = "bru"
  case frontLeftDown = "fld"
  case frontRightUp = "fru"
  case backLeftUp = "blu"
  case backRightDown = "brd"

  /// The direction as a unit vector. The axes point forwards (x), to the left (y) and upwards (z).
  public var direction: SIMD3<Double> {
    let name = Array(rawValue)
    let signs = SIMD3<Double>(
      name[0] == "f" ? 1 : -1, name[1] == "l" ? 1 : -1, name[2] == "u" ? 1 : -1)
    return signs / 3.0.squareRoot()
  }

  /// The order of the four capsules if a microphone's description does not state another order.
  public static let usualOrder: [Capsule] = [
    .frontLeftUp, .frontRightDown, .backLeftDown, .backRightUp,
  ]

  /// Returns whether `capsules` are at the four corners of a regular tetrahedron.
  public static func areTetrahedron(_ capsules: [Capsule]) -> Bool {
    guard capsules.count == 4 else { return false }
    return capsules.indices.allSatisfy { i in
      capsules.indices.allSatisfy { j in
        let product = (capsules[i].direction * capsules[j].direction).sum()
        return i == j || abs(product + 1.0 / 3) < 1e-9
      }
    }
  }
}

/// A tetrahedral microphone: the positions, the directivity and the gains of its capsules.
public struct TetrahedralMicrophone: Sendable, Equatable {
  /// The capsule of each channel. The four capsules are at the corners of a regular tetrahedron.
  public var capsules: [Capsule]
  /// The distance of the capsules from the centre, in metres.
  public var radius: Double
  /// The omnidirectional part of a capsule's directivity, between 0 and 1; 0.5 for a cardioid.
  public var omnidirectionalPart: Double
  /// The linear gain of each channel. The gains make the sensitivities of the capsules equal.
  public var gains: [Double]

  public init(
    capsules: [Capsule] = Capsule.usualOrder, radius: Double = 0.0147,
    omnidirectionalPart: Double = 0.5, gains: [Double] = [1, 1, 1, 1]
  ) {
    precondition(Capsule.areTetrahedron(capsules) && gains.count == 4)
    self.capsules = capsules
    self.radius = radius
    self.omnidirectionalPart = omnidirectionalPart
    self.gains = gains
  }
}
