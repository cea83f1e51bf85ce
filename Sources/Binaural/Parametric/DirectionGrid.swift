// SPDX-License-Identifier: Apache-2.0

private import CRealtime

/// A grid of directions at every 5 degrees of azimuth and elevation.
enum DirectionGrid {
  static let azimuths = 72
  static let elevations = 37
  static let count = azimuths * elevations
  private static var step: Double { @_noLocks get { .pi / 36 } }

  /// The indices of four directions on the grid, and the weights of these directions, which sum to
  /// 1.
  struct Place {
    var points: SIMD4<Int>
    var shares: SIMD4<Float>

    @_noLocks
    init(points: SIMD4<Int>, shares: SIMD4<Float>) {
      self.points = points
      self.shares = shares
    }
  }

  /// Returns the direction with an index on the grid, as a unit vector. The lowest elevation has
  /// the first 72 indices, the next elevation has the next 72, and so on. At each elevation, the
  /// azimuths start at the front and proceed to the left.
  static func direction(_ point: Int) -> SIMD3<Double> {
    let azimuth = Double(point % azimuths) * step
    let elevation = Double(point / azimuths - elevations / 2) * step
    let r = realtime_cos(elevation)
    return SIMD3(r * realtime_cos(azimuth), r * realtime_sin(azimuth), realtime_sin(elevation))
  }

  /// Returns the four directions on the grid that surround `v`, with weights for bilinear
  /// interpolation.
  @_noLocks
  static func place(_ v: SIMD3<Double>) -> Place {
    let across = realtime_sqrt(v.x * v.x + v.y * v.y)
    var column = realtime_atan2(v.y, v.x) / step
    if column < 0 { column += Double(azimuths) }
    let row = realtime_atan2(v.z, across) / step + Double(elevations / 2)
    let low = max(0, min(elevations - 2, Int(row)))
    let near = Int(column)
    let (up, along) = (Float(row - Double(low)), Float(column - Double(near)))
    let (a, b) = (near % azimuths, (near + 1) % azimuths)
    return Place(
      points: SIMD4(
        low * azimuths + a, low * azimuths + b, (low + 1) * azimuths + a,
        (low + 1) * azimuths + b),
      shares: SIMD4(
        (1 - up) * (1 - along), (1 - up) * along, up * (1 - along), up * along))
  }
}
