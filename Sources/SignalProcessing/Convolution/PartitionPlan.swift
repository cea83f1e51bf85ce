// SPDX-License-Identifier: Apache-2.0

/// Divides a filter into short partitions, which avoid latency, and longer ones, which reduce the
/// work (Gardner, JAES 43, 1995, 127; Wefers, Partitioned Convolution Algorithms for Real-Time
/// Auralization, 2015, chapter 6).
struct PartitionPlan: Equatable {
  struct Level: Equatable {
    /// The number of taps in a partition and of frames in a block; a power of two.
    var size: Int
    /// The index of the level's first tap in the filter.
    var offset: Int
    var partitions: Int
    /// Whether a full block is processed in steps while the next block arrives.
    var isDeferred: Bool
  }

  var levels: [Level]

  /// A level is deferred if its block has at least this many frames, unless it is the first level.
  static let deferredSize = 512
  private static let largestSize = 8192

  /// Finds the plan with the lowest cost.
  ///
  /// - Parameters:
  ///   - taps: the number of taps of the longest filter.
  ///   - block: the first level's block, in frames; a power of two, at least 16.
  ///   - quads: the number of groups of four input signals.
  ///   - productCost: the cost of the products with one filter partition, in ns per quad and frame.
  init(taps: Int, block: Int, quads: Int, productCost: Double) {
    let cost = Cost(quads: Double(quads), product: productCost)
    levels = Self.best(from: 0, size: block, taps: max(1, taps), cost).levels
  }

  /// A model of a level's cost, in ns per frame on one particular processor. Only the ratios of
  /// costs matter.
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
