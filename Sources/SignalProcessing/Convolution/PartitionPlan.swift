// SPDX-License-Identifier: Apache-2.0

/// Divides a filter into partitions: short partitions first to avoid latency, then longer
/// partitions to reduce the work (Gardner, JAES 43, 1995, 127; Wefers, Partitioned Convolution
/// Algorithms for Real-Time Auralization, 2015, chapter 6).
struct PartitionPlan: Equatable {
  struct Level: Equatable {
    /// The number of taps of a partition, which is also the number of frames of a block; a power of
    /// two.
    var size: Int
    /// Index of the first tap: 0 in the first level, twice `size` in a deferred level, otherwise
    /// `size`.
    var offset: Int
    var partitions: Int
    /// Whether the work on a block is spread evenly over the next block.
    var isDeferred: Bool
  }

  var levels: [Level]

  /// Levels with blocks of at least this many frames are deferred, except the first level.
  static let deferredSize = 512
  private static let largestSize = 8192

  /// Finds the plan with the lowest cost.
  ///
  /// - Parameters:
  ///   - taps: the number of taps of the longest filter.
  ///   - block: the number of frames of a block of the first level; a power of two, at least 16.
  ///   - quads: the number of groups of four input signals.
  ///   - productCost: cost of one filter partition per quad and frame, in the unit of `Cost`.
  init(taps: Int, block: Int, quads: Int, productCost: Double) {
    let cost = Cost(quads: Double(quads), product: productCost)
    levels = Self.best(from: 0, size: block, taps: max(1, taps), cost).levels
  }

  /// A model of the cost of a level, in nanoseconds per frame on one particular processor. Only the
  /// ratios between costs matter.
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
