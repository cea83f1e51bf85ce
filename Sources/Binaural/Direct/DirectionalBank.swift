// SPDX-License-Identifier: Apache-2.0

/// The responses for all directions as delayed mixtures of the same filters.
///
/// An ear's response to a direction is the sum of `filters` weighted by the direction's `gains`,
/// delayed by the arrival time at that ear.
public struct DirectionalBank: Sendable {
  /// The number of filters, which both ears share.
  public static var rank: Int { @_noLocks get { 48 } }
  /// The spacing of the grid of directions for which there are gains, in degrees.
  static var step: Double { @_noLocks get { 2.5 } }
  static var columns: Int { @_noLocks get { 144 } }
  static var rows: Int { @_noLocks get { 73 } }

  /// The filters: `rank` x taps.
  public let filters: [[Float]]
  /// The gains: rows (elevations from -90 degrees) x columns (azimuths from 0) x 2 ears x `rank`.
  let gains: [Float]
  /// The filters for two loudspeakers with crosstalk cancellation; nil for headphones. Each
  /// loudspeaker has 2 x `rank` filters: those for the left ear's inputs, then those for the right
  /// ear's inputs.
  var crossed: (left: [[Float]], right: [[Float]])?

  public var taps: Int { crossed?.left.first?.count ?? filters.first?.count ?? 0 }

  init(filters: [[Float]], gains: [Float]) {
    self.filters = filters
    self.gains = gains
  }
}
