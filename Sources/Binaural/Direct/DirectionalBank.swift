// SPDX-License-Identifier: Apache-2.0

/// The responses for all directions, each represented as a delayed mixture of the same filters;
/// used by `DirectionalMixer`.
///
/// The response of an ear to a direction is the sum of `filters` weighted by the direction's
/// `gains`, delayed by the arrival time at that ear. The gains are on a grid of azimuths and
/// elevations.
public struct DirectionalBank: Sendable {
  /// The number of filters, which both ears share.
  public static var rank: Int { @_noLocks get { 48 } }
  /// The spacing of the grid, in degrees.
  static var step: Double { @_noLocks get { 2.5 } }
  static var columns: Int { @_noLocks get { 144 } }
  static var rows: Int { @_noLocks get { 73 } }

  /// The filters: `rank` x taps.
  public let filters: [[Float]]
  /// The gains: rows (elevations from -90 degrees) x columns (azimuths from 0) x 2 ears x `rank`.
  let gains: [Float]
  /// The filters for playback on two loudspeakers, with crosstalk cancellation; nil for headphones.
  ///
  /// Each loudspeaker has 2 x `rank` filters: first those for the inputs of the left ear, then
  /// those for the inputs of the right ear.
  var crossed: (left: [[Float]], right: [[Float]])?

  public var taps: Int { crossed?.left.first?.count ?? filters.first?.count ?? 0 }

  init(filters: [[Float]], gains: [Float]) {
    self.filters = filters
    self.gains = gains
  }
}
