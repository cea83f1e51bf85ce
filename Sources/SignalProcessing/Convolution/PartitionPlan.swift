// SPDX-License-Identifier: Apache-2.0

/// How a filter is cut into partitions: short ones first, so that nothing is late, longer ones
/// behind them, so that little is done (Gardner, JAES 43, 1995, 127; Wefers, Partitioned
/// Convolution Algorithms for Real-Time Auralization, 2015, chapter 6).
struct PartitionPlan: Equatable {
  struct Level: Equatable {
    /// Taps of a partition, and frames of a block; a power of two.
    var size: Int
    /// The first tap.
    var offset: Int
    var partitions: Int
    /// The work on a block is spread over the next one, so that no call has much more to do than
    /// another; `offset` is then twice the size, otherwise the size.
    var isDeferred: Bool
  }

  var levels: [Level]

  /// Blocks from this size are worked on while the next one comes in.
  static let deferredSize = 512
  private static let largestSize = 8192

  /// The cheapest plan.
  ///
  /// - Parameters:
  ///   - taps: of the filters.
  ///   - block: frames of the first level's block; a power of two from 16.
  ///   - quads: input signals in fours.
  ///   - productCost: of a filter's partition on a quad and frame, in the unit of `Cost`.
  init(taps: Int, block: Int, quads: Int, productCost: Double) {
    let cost = Cost(quads: Double(quads), product: productCost)
    levels = Self.best(from: 0, size: block, taps: max(1, taps), cost).levels
  }

  /// Nanoseconds a frame on some processor; the proportions matter.
  private struct Cost {
    let quads: Double
    let product: Double

    func of(_ level: Level) -> Double {
      var log = 0.0
      while Double(level.size) > exactPower(log) { log += 1 }
      let transforms = 0.25 * log * (quads + 1) + (level.offset > 0 ? 1.5 : 0.5)
      return transforms + product * quads * Double(level.partitions)
    }

    private func exactPower(_ log: Double) -> Double { Double(1 << Int(log)) }
  }

  private static func best(
    from offset: Int, size: Int, taps: Int, isDeferred: Bool = false, _ cost: Cost
  ) -> (levels: [Level], cost: Double) {
    let whole = Level(
      size: size, offset: offset, partitions: (taps - offset + size - 1) / size,
      isDeferred: isDeferred)
    var found = (levels: [whole], cost: cost.of(whole))
    var next = 2 * size
    while next <= largestSize {
      let defers = next >= deferredSize
      let start = defers ? 2 * next : next
      if start >= taps { break }
      if start > offset {
        var level = whole
        level.partitions = (start - offset) / size
        let rest = best(from: start, size: next, taps: taps, isDeferred: defers, cost)
        let total = cost.of(level) + rest.cost
        if total < found.cost { found = ([level] + rest.levels, total) }
      }
      next *= 2
    }
    return found
  }
}
