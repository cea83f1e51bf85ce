// SPDX-License-Identifier: Apache-2.0

/// Responses of all directions as mixtures of a few filters and a delay: what `DirectionalMixer`
/// plays loudspeakers with.
///
/// An ear's response from a direction is the sum of `filters` with the direction's `gains`, late by
/// the arrival time at that ear. The gains lie on a grid of azimuths and elevations.
public struct DirectionalBank: Sendable {
  /// Filters of one ear; both ears have the same.
  public static var rank: Int { @_noLocks get { 48 } }
  /// Degrees between two directions of the grid.
  static var step: Double { @_noLocks get { 2.5 } }
  static var columns: Int { @_noLocks get { 144 } }
  static var rows: Int { @_noLocks get { 73 } }

  /// `rank` x taps.
  public let filters: [[Float]]
  /// rows (elevations from -90 degrees) x columns (azimuths from 0) x 2 ears x `rank`.
  let gains: [Float]
  /// For loudspeakers: what each of the ears' filters (left ear's, then right ear's) feeds to the
  /// left and to the right one, 2 x `rank` x taps each.
  var crossed: (left: [[Float]], right: [[Float]])?

  public var taps: Int { crossed?.left.first?.count ?? filters.first?.count ?? 0 }

  init(filters: [[Float]], gains: [Float]) {
    self.filters = filters
    self.gains = gains
  }
}
