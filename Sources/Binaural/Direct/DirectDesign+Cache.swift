// SPDX-License-Identifier: Apache-2.0

extension DirectDesign {
  /// Returns the direct filters for a set from the cache. If the cache has no valid entry for them,
  /// designs and stores them.
  ///
  /// The parameters are those of `DecoderDesign.filters(for:sampleRate:cache:isCancelled:)`.
  ///
  /// - Throws: the errors of `bank(for:isCancelled:)`, and `HRTFError.refused` if the filters are
  ///   not finite.
  public func filters(
    for set: HRTFSet, sampleRate: Double, cache: DesignCache?,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws(HRTFError) -> BinauralFilters {
    let key = cache.map { _ in
      DesignKey(
        set: set, sampleRate: sampleRate, settings: "direct \(equalisation.rawValue)")
    }
    if let key, let arrays = cache?.load(key), let bank = DirectionalBank(arrays: arrays) {
      let kept = BinauralFilters(direct: bank, sampleRate: sampleRate)
      if kept.isFinite { return kept }
    }
    let bank = try bank(
      for: set.prepared(sampleRate: sampleRate).normalized(), isCancelled: isCancelled)
    let filters = try BinauralFilters(direct: bank, sampleRate: sampleRate).checked(set)
    if let key { cache?.store(bank.filters + [bank.gains], key) }
    return filters
  }
}

extension DirectionalBank {
  /// Creates a bank from one array for each filter, followed by one array for all gains; nil if a
  /// size is wrong.
  fileprivate init?(arrays: [[Float]]) {
    guard arrays.count == Self.rank + 1, let gains = arrays.last,
      gains.count == Self.rows * Self.columns * 2 * Self.rank, let taps = arrays.first?.count,
      taps > 0, arrays.dropLast().allSatisfy({ $0.count == taps })
    else { return nil }
    self.init(filters: Array(arrays.dropLast()), gains: gains)
  }
}
