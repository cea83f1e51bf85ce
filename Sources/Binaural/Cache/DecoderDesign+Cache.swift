// SPDX-License-Identifier: Apache-2.0

private import Ambisonics

extension DecoderDesign {
  /// Returns the filters for a set from the cache. If the cache has no valid entry for them,
  /// designs and stores them.
  ///
  /// Before the design, the set is resampled to the playback rate and normalised in level.
  ///
  /// - Parameters:
  ///   - set: the set as it was read.
  ///   - sampleRate: the playback rate, in Hz.
  ///   - cache: nil to design without a cache.
  /// - Throws: the errors of `filters(for:isCancelled:)`, and `HRTFError.refused` if the
  ///   designed filters are not finite or their diffuse-field level is not supported.
  public func filters(
    for set: HRTFSet, sampleRate: Double, cache: DesignCache?,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws(HRTFError) -> BinauralFilters {
    guard let cache else {
      return try filters(
        for: set.prepared(sampleRate: sampleRate).normalized(), isCancelled: isCancelled
      ).checked(set)
    }
    let key = DesignKey(
      set: set, sampleRate: sampleRate,
      settings: "filters \(method.rawValue) \(order) \(equalisation.rawValue)")
    let channels = SphericalHarmonics.channelCount(order: order)
    if let arrays = cache.load(key), arrays.count == 2 * channels,
      arrays.allSatisfy({ $0.count == arrays[0].count && !$0.isEmpty })
    {
      let kept = BinauralFilters(
        order: order, sampleRate: sampleRate, left: Array(arrays[..<channels]),
        right: Array(arrays[channels...]))
      if kept.designFault == nil { return kept }
    }
    let made = try filters(
      for: set.prepared(sampleRate: sampleRate).normalized(), isCancelled: isCancelled
    ).checked(set)
    cache.store(made.left + made.right, key)
    return made
  }
}
