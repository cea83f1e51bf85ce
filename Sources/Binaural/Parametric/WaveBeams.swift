// SPDX-License-Identifier: Apache-2.0

private import CRealtime
internal import Geometry

/// The two waves of a `WaveModel` relative to the head, and the beams that extract these waves.
struct WaveBeams {
  /// The directions of the waves: unit vectors relative to the head.
  let first: SIMD3<Double>
  let second: SIMD3<Double>
  /// The gains from each wave to the channels, in ACN order and SN3D scale.
  let firstWave: SIMD4<Float>
  let secondWave: SIMD4<Float>
  /// The gains from the channels to each wave, in ACN order and SN3D scale.
  let firstBeam: SIMD4<Float>
  let secondBeam: SIMD4<Float>
  /// The matrix (pd P^-1 + B'B)^-1 of `ParametricFrame`: its two diagonal elements and its
  /// off-diagonal element.
  private let inverse: SIMD3<Float>

  /// - Parameters:
  ///   - model: the model, with directions on the stage.
  ///   - turn: the rotation from the stage to the head.
  @_noLocks
  init(_ model: WaveModel, turn: RotationMatrix) {
    first = turn.rotate(model.first)
    second = turn.rotate(model.second)
    let cosine = 1 + 3 * (model.first * model.second).sum()
    let a = 4 + model.diffusePower / model.firstPower
    let b = 4 + model.diffusePower / model.secondPower
    let determinant = a * b - cosine * cosine
    let (g1, g2, g12) = (b / determinant, a / determinant, -cosine / determinant)
    inverse = SIMD3(Float(g1), Float(g2), Float(g12))
    let w1 = SIMD4(1, first.y, first.z, first.x)
    let w2 = SIMD4(1, second.y, second.z, second.x)
    // In N3D, the beams are G B' (G is `inverse`). Because both the vectors `w1` and `w2` and the
    // channels are in SN3D, Y, Z and X require the factor sqrt(3) twice.
    let scale = SIMD4<Double>(1, 3, 3, 3)
    firstWave = SIMD4(w1)
    secondWave = SIMD4(w2)
    firstBeam = SIMD4((w1 * g1 + w2 * g12) * scale)
    secondBeam = SIMD4((w2 * g2 + w1 * g12) * scale)
  }

  /// Returns the real part of u G v*, where u = (u1, u2) and v = (v1, v2) are complex row vectors,
  /// G is `inverse`, and v* is the conjugate transpose of v.
  @_noLocks
  func form(
    _ u1: SIMD2<Float>, _ u2: SIMD2<Float>, _ v1: SIMD2<Float>, _ v2: SIMD2<Float>
  ) -> Float {
    inverse.x * (u1 * v1).sum() + inverse.y * (u2 * v2).sum()
      + inverse.z * ((u1 * v2).sum() + (u2 * v1).sum())
  }
}

/// A rotation of the four first-order channels, in ACN order.
struct FieldTurn {
  private let y: SIMD4<Float>
  private let z: SIMD4<Float>
  private let x: SIMD4<Float>

  @_noLocks
  init(_ turn: RotationMatrix) {
    y = SIMD4(0, Float(turn.y.y), Float(turn.z.y), Float(turn.x.y))
    z = SIMD4(0, Float(turn.y.z), Float(turn.z.z), Float(turn.x.z))
    x = SIMD4(0, Float(turn.y.x), Float(turn.z.x), Float(turn.x.x))
  }

  @_noLocks
  func apply(_ v: SIMD4<Float>) -> SIMD4<Float> {
    SIMD4(v.x, 0, 0, 0) + y * v.y + z * v.z + x * v.w
  }
}

/// The phase factor of a delay, computed recursively from bin to bin.
struct ArrivalPhase {
  private var value: SIMD2<Float>
  private let step: SIMD2<Float>

  @_noLocks
  init() {
    value = SIMD2(1, 0)
    step = SIMD2(1, 0)
  }

  /// - Parameters:
  ///   - radians: the phase change from one bin to the next; negative for a delay.
  ///   - bin: the bin of the first value that `next` returns.
  @_noLocks
  init(radians: Double, bin: Int) {
    let start = radians * Double(bin)
    value = SIMD2(Float(realtime_cos(start)), Float(realtime_sin(start)))
    step = SIMD2(Float(realtime_cos(radians)), Float(realtime_sin(radians)))
  }

  @_noLocks
  mutating func next() -> SIMD2<Float> {
    let now = value
    value = SIMD2(now.x * step.x - now.y * step.y, now.x * step.y + now.y * step.x)
    return now
  }
}
