// SPDX-License-Identifier: Apache-2.0

private import Ambisonics

extension BinauralFilters {
  /// The filters of a head whose right half is the mirror image of its left one.
  ///
  /// A mirror between left and right (y to -y) changes the sign of the channels with m < 0 and of no
  /// other.
  public func mirroringLeft() -> BinauralFilters {
    let mirrored = left.enumerated().map { channel, filter in
      let l = SphericalHarmonics.degree(ofChannel: channel)
      return channel < l * l + l ? filter.map { -$0 } : filter
    }
    return BinauralFilters(order: order, sampleRate: sampleRate, left: left, right: mirrored)
  }
}
