// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing

/// The Hermitian covariance matrix of two ears: [[left, cross], [conj cross, right]].
struct EarCovariance {
  var left: Double
  var right: Double
  /// The cross-covariance: the mean product of the left ear's signal and the conjugate of the right
  /// ear's signal.
  var cross: Complex

  init(left: Double, right: Double, cross: Complex) {
    (self.left, self.right, self.cross) = (left, right, cross)
  }

  /// Computes D D^H, the covariance of the ears in a diffuse field, for a decoder with the N3D
  /// coefficients D.
  init(_ decoder: EarCoefficients) {
    left = decoder.left.reduce(0) { $0 + $1.squaredMagnitude }
    right = decoder.right.reduce(0) { $0 + $1.squaredMagnitude }
    cross = zip(decoder.left, decoder.right).reduce(Complex(0)) { $0 + $1.0 * $1.1.conjugate }
  }

  /// The lower triangular Cholesky factor. A billionth of the trace is first added to the diagonal
  /// of the matrix.
  fileprivate var factor: EarMatrix {
    let floor = 1e-9 * (left + right) + 1e-30
    let a = (left + floor).squareRoot()
    let b = cross.conjugate * (1 / a)
    let c = max(right + floor - b.squaredMagnitude, floor).squareRoot()
    return EarMatrix(Complex(a), Complex(0), b, Complex(c))
  }
}

extension EarCoefficients {
  /// Returns the decoder nearest to this one that has the covariance `wanted` in the diffuse field.
  /// Returns this decoder unchanged if Kx or Ky^H Kx (see below) is nearly singular.
  ///
  /// With the decoder's own covariance C = Kx Kx^H and the wanted covariance R = Ky Ky^H, the
  /// matrix M = Ky P Kx^-1 gives M C M^H = R for any unitary P. The nearest decoder has P = V U^H,
  /// where Kx^H Ky = U S V^H is a singular value decomposition (Vilkamo, Baeckstroem, Kuntz, J.
  /// Audio Eng. Soc. 61, 403, 2013; for binaural decoders Zaunschirm, Schoerkhuber, Hoeldrich, J.
  /// Acoust. Soc. Am. 143, 3616, 2018).
  func constrained(to wanted: EarCovariance) -> EarCoefficients {
    let own = EarCovariance(self).factor
    let goal = wanted.factor
    guard let unitary = (goal.adjoint * own).unitaryFactor, let inverse = own.inverse else {
      return self
    }
    let m = goal * unitary * inverse
    return EarCoefficients(
      left: zip(left, right).map { m.a * $0 + m.b * $1 },
      right: zip(left, right).map { m.c * $0 + m.d * $1 })
  }
}

/// A complex 2 x 2 matrix [[a, b], [c, d]].
private struct EarMatrix {
  var a: Complex
  var b: Complex
  var c: Complex
  var d: Complex

  init(_ a: Complex, _ b: Complex, _ c: Complex, _ d: Complex) {
    (self.a, self.b, self.c, self.d) = (a, b, c, d)
  }

  var adjoint: EarMatrix { EarMatrix(a.conjugate, c.conjugate, b.conjugate, d.conjugate) }

  var determinant: Complex { a * d + b * c * -1 }

  var inverse: EarMatrix? {
    let size = determinant.squaredMagnitude
    guard size > 1e-300 else { return nil }
    let scale = determinant.conjugate * (1 / size)
    return EarMatrix(d * scale, b * scale * -1, c * scale * -1, a * scale)
  }

  /// The unitary factor U of the polar decomposition A = U H of this matrix; nil if the matrix is
  /// nearly singular.
  ///
  /// For a 2 x 2 matrix, H + |det A| H^-1 = trace(H) I by the Cayley-Hamilton theorem. Multiplied
  /// by U, this gives A + (det A / |det A|) adj(A)^H = trace(H) U, where adj(A) is the adjugate of
  /// A. The trace follows from trace(H)^2 = ||A||^2 + 2 |det A| with the Frobenius norm ||A||.
  var unitaryFactor: EarMatrix? {
    let size = determinant.squaredMagnitude.squareRoot()
    let norm = [a, b, c, d].reduce(0) { $0 + $1.squaredMagnitude }
    guard size > 1e-12 * norm, norm > 0 else { return nil }
    let (turn, scale) = (determinant * (1 / size), 1 / (norm + 2 * size).squareRoot())
    return EarMatrix(
      (a + turn * d.conjugate) * scale, (b + turn * c.conjugate * -1) * scale,
      (c + turn * b.conjugate * -1) * scale, (d + turn * a.conjugate) * scale)
  }

  static func * (x: EarMatrix, y: EarMatrix) -> EarMatrix {
    EarMatrix(
      x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d)
  }
}
