// SPDX-License-Identifier: Apache-2.0

private import CRealtime
internal import Geometry

/// A model of one band of a soundfield: two plane waves in a diffuse field.
///
/// A wave from direction d is encoded in N3D by b = (1, sqrt(3) d). The model for the covariance of
/// the channels is C = p1 b1 b1' + p2 b2 b2' + pd I, with the powers p1 and p2 of the waves and the
/// diffuse power pd; ' denotes the transpose. The eigenvectors with the two largest eigenvalues of
/// the measured C span the plane of b1 and b2. The vectors in this plane whose first component is 1
/// form a line. This line meets the sphere of directions at the directions of the waves (the
/// geometry of Barrett, Berge, "A new method for B-format to binaural transcoding", AES 40th
/// conference, 2010, here applied to a smoothed covariance).
///
/// The two smallest eigenvalues determine the diffuse power. The powers of the waves are fitted to
/// b1' C b1 and b2' C b2 by least squares, after twice the diffuse part is subtracted from each.
struct WaveModel {
  /// The directions of the waves: unit vectors.
  var first: SIMD3<Double>
  var second: SIMD3<Double>
  /// The powers of the waves and of the diffuse field in the channel W, greater than 0.
  var firstPower: Double
  var secondPower: Double
  var diffusePower: Double

  /// Fits the model to a covariance.
  ///
  /// - Parameters:
  ///   - eigen: the eigenvalues and eigenvectors of the covariance, which is in N3D scale and the
  ///     order W X Y Z and is not zero.
  ///   - bins: the number of bins over which the covariance was averaged.
  @_noLocks
  init(_ eigen: borrowing SymmetricEigen, bins: Int) {
    let power = (eigen.value(0) + eigen.value(1) + eigen.value(2) + eigen.value(3)) / 4
    // In an average over few bins, the estimates of equal eigenvalues differ as if there were a
    // wave. The estimate of the diffuse power is raised accordingly.
    let bias = 1.2 + 2 / realtime_sqrt(Double(bins))
    let weakest = (eigen.value(2) + eigen.value(3)) / 2
    diffusePower = min(power, max(1e-4 * power, bias * weakest))
    let pair = Self.pairing(eigen)
    (first, second) = Self.ordered(
      Self.directions(eigen.vector(0), eigen.vector(1)), eigen.vector(0), pair)
    let seen = SIMD2(Self.power(eigen, first), Self.power(eigen, second))
    let cosine = 1 + 3 * (first * second).sum()
    var powers = Self.powers(seen - 8 * diffusePower, shared: cosine * cosine)
    powers *= pair
    powers.x += (1 - pair) * max(0, seen.x / 16 - diffusePower / 2)
    let misfit = Self.misfit(
      eigen, powers, seen: seen, shared: cosine * cosine, diffuse: diffusePower)
    // Waves that carry the same sound do not fit the model, nor does a soundfield with only the
    // channel W. The more the misfit exceeds 0.5, the more of the power counts as diffuse and is
    // left to the linear decoder.
    let kept = max(0, min(1, 2 - 2 * misfit))
    firstPower = max(powers.x * kept, 1e-5 * power)
    secondPower = max(powers.y * kept, 1e-5 * power)
    diffusePower += (1 - kept) * (power - diffusePower)
  }

  /// Returns a weight: about 1 for two waves and about 0 for one wave. It is 0.5 if the second
  /// eigenvalue exceeds the mean of the two smallest by 0.2 % of the largest.
  ///
  /// With one wave, the second eigenvector is arbitrary and would change the direction of a wave in
  /// every analysis frame.
  @_noLocks
  private static func pairing(_ eigen: borrowing SymmetricEigen) -> Double {
    let weakest = (eigen.value(2) + eigen.value(3)) / 2
    let second = max(0, eigen.value(1) - weakest) / eigen.value(0)
    let square = second * second
    let limit = 0.002 * 0.002
    return square * square / (square * square + limit * limit)
  }

  /// Returns the two directions. The first is the one nearer to the direction of `strongest`, the
  /// eigenvector with the largest eigenvalue. It is averaged with that direction: the weight of the
  /// first direction is `pair`, and the weight of `strongest` is 1 - `pair`.
  @_noLocks
  private static func ordered(
    _ directions: (SIMD3<Double>, SIMD3<Double>), _ strongest: SIMD4<Double>, _ pair: Double
  ) -> (SIMD3<Double>, SIMD3<Double>) {
    let sign = strongest.x < 0 ? -1.0 : 1.0
    let own = unit(SIMD3(strongest.y, strongest.z, strongest.w) * sign)
    var (a, b) = directions
    if (b * own).sum() > (a * own).sum() { swap(&a, &b) }
    return (unit(a * pair + own * (1 - pair)), b)
  }

  /// Returns the powers of two waves, which are at least 0.
  ///
  /// - Parameters:
  ///   - seen: b' C b for each wave, less twice the diffuse part.
  ///   - shared: (b1' b2)^2, which a wave with power 1 adds to the other wave's b' C b.
  @_noLocks
  private static func powers(_ seen: SIMD2<Double>, shared: Double) -> SIMD2<Double> {
    // A wave with power 1 adds 16 to its own b' C b. `own` is larger by 0.02, so that there is also
    // a solution for two waves from one direction: equal powers.
    let own = 16.02
    let determinant = own * own - shared * shared
    let first = (own * seen.x - shared * seen.y) / determinant
    let second = (own * seen.y - shared * seen.x) / determinant
    // If one power would be negative, assume that there is only the other wave.
    return SIMD2(
      max(0, second < 0 ? seen.x / 16 : first), max(0, first < 0 ? seen.y / 16 : second))
  }

  /// Returns the norm of the difference between the covariance and the model, divided by the norm
  /// of the covariance.
  @_noLocks
  private static func misfit(
    _ eigen: borrowing SymmetricEigen, _ powers: SIMD2<Double>, seen: SIMD2<Double>,
    shared: Double, diffuse: Double
  ) -> Double {
    var (all, trace) = (0.0, 0.0)
    for i in 0..<4 {
      all += eigen.value(i) * eigen.value(i)
      trace += eigen.value(i)
    }
    let together = 2 * ((powers * seen).sum() + diffuse * trace)
    let waves = 16 * (powers * powers).sum() + 2 * shared * powers.x * powers.y
    let model = waves + 4 * diffuse * diffuse + 8 * diffuse * powers.sum()
    return realtime_sqrt(max(0, all - together + model) / all)
  }

  /// Returns the two directions at which the line described in `WaveModel` meets the sphere. If the
  /// line misses the sphere, both are the direction nearest to the line.
  ///
  /// - Parameters:
  ///   - u: one of the two eigenvectors that span the plane of b1 and b2.
  ///   - v: the other eigenvector.
  @_noLocks
  private static func directions(
    _ u: SIMD4<Double>, _ v: SIMD4<Double>
  ) -> (SIMD3<Double>, SIMD3<Double>) {
    let middle4 = (u * u.x + v * v.x) / (u.x * u.x + v.x * v.x + 1e-9)
    let along4 = u * v.x - v * u.x
    let third = 1 / realtime_sqrt(3)
    let middle = SIMD3(middle4.y, middle4.z, middle4.w) * third
    var along = SIMD3(along4.y, along4.z, along4.w)
    along /= realtime_sqrt((along * along).sum()) + 1e-9
    let b = (middle * along).sum()
    let reach = realtime_sqrt(max(0, b * b - (middle * middle).sum() + 1))
    return (unit(middle + along * (reach - b)), unit(middle - along * (reach + b)))
  }

  @_noLocks
  private static func unit(_ v: SIMD3<Double>) -> SIMD3<Double> {
    let length = realtime_sqrt((v * v).sum())
    return length > 1e-9 ? v / length : SIMD3(1, 0, 0)
  }

  /// Returns b' C b for a wave from direction `d`.
  @_noLocks
  private static func power(_ eigen: borrowing SymmetricEigen, _ d: SIMD3<Double>) -> Double {
    let b = SIMD4(1, d.x * realtime_sqrt(3), d.y * realtime_sqrt(3), d.z * realtime_sqrt(3))
    var sum = 0.0
    for i in 0..<4 {
      let part = (eigen.vector(i) * b).sum()
      sum += eigen.value(i) * part * part
    }
    return sum
  }
}
