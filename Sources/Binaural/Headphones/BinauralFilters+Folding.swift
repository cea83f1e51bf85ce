// SPDX-License-Identifier: Apache-2.0

private import SignalProcessing

extension BinauralFilters {
  /// The filters with an equaliser for headphones in them.
  ///
  /// What is heard past them (plain stereo, effects, the parametric decoder) is left to whoever
  /// plays it; `equaliser` is there for that.
  ///
  /// - Parameter taps: of the equaliser.
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

  /// The filters that feed two loudspeakers so that each ear hears its own of these.
  ///
  /// The cancelling filters' modelling delay is taken off again: it fits into the time before the
  /// responses begin. So they are as late as the filters for headphones.
  public func crossed(by cancelling: CrosstalkFilters) -> BinauralFilters {
    precondition(planeWaves == nil, "the parametric decoder has no filters of its own")
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
