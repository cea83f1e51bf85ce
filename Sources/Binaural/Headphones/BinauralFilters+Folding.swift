// SPDX-License-Identifier: Apache-2.0

private import SignalProcessing

extension BinauralFilters {
  /// Returns the filters combined with a headphone equaliser, which is also stored in `equaliser`.
  /// If `planeWaves` is set, the equaliser is only stored, and the filters are unchanged.
  ///
  /// Signal paths that bypass the filters must apply `equaliser`. If `planeWaves` is set, all
  /// signal paths must apply it.
  ///
  /// - Parameter taps: the equaliser's impulse response.
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

  /// Returns the filters followed by crosstalk cancellation for two loudspeakers. The delay is the
  /// same as for headphones.
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
