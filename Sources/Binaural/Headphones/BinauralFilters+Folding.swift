// SPDX-License-Identifier: Apache-2.0

private import SignalProcessing

extension BinauralFilters {
  /// Returns the filters combined with a headphone equaliser. If `planeWaves` is set, the filters
  /// remain as they are, and only `equaliser` is set.
  ///
  /// Paths that bypass the filters (plain stereo, low-frequency effects, the parametric decoder)
  /// must apply `equaliser` themselves.
  ///
  /// - Parameter taps: the impulse response of the equaliser.
  public func equalised(by taps: [Float]) -> BinauralFilters {
    var result = self
    result.equaliser = taps
    if planeWaves != nil { return result }
    if let direct {
      return BinauralFilters(direct: direct.folded(with: taps), sampleRate: sampleRate)
        .with(equaliser: taps)
    }
    return BinauralFilters(
      order: order, sampleRate: sampleRate, left: folded(left, with: taps),
      right: folded(right, with: taps)
    ).with(equaliser: taps)
  }

  private func with(equaliser: [Float]) -> BinauralFilters {
    var result = self
    result.equaliser = equaliser
    return result
  }

  /// Returns filters for two loudspeakers, such that each ear receives the signal that the original
  /// filters compute for it.
  ///
  /// The delay is the same as for headphones. The modelling delay of the cancelling filters is
  /// removed, because the decoder already delays the responses of the set by the same time.
  public func crossed(by cancelling: CrosstalkFilters) -> BinauralFilters {
    precondition(
      planeWaves == nil, "crosstalk cancellation does not support the parametric decoder")
    if let direct {
      return BinauralFilters(direct: direct.crossed(by: cancelling), sampleRate: sampleRate)
    }
    let (left, right) = cancelling.behind(left, right)
    return BinauralFilters(order: order, sampleRate: sampleRate, left: left, right: right)
  }
}

extension DirectionalBank {
  func folded(with taps: [Float]) -> DirectionalBank {
    DirectionalBank(filters: SignalProcessing.folded(filters, with: taps), gains: gains)
  }

  func crossed(by cancelling: CrosstalkFilters) -> DirectionalBank {
    var result = self
    let silence = [[Float]](repeating: [0], count: Self.rank)
    result.crossed = cancelling.behind(filters + silence, silence + filters)
    return result
  }
}
