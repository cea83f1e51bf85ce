// SPDX-License-Identifier: Apache-2.0

/// The least-squares projection of signals onto stems, through a filter of 512 taps per stem.
///
/// The multichannel Levinson recursion solves the block Toeplitz normal equations [Whittle 1963;
/// Wiggins and Robinson 1965].
package struct UpmixProjection {
  static let taps = 512
  /// The number of filter taps before time zero.
  private static let early = 64

  private let correlator = Correlator(reach: UpmixProjection.taps)
  private let stems: [Correlator.Blocks]
  /// Element `[i][j][lag + taps]` is the sum, over all frames `t`, of stem `i` at `t` times stem
  /// `j` at `t + lag`.
  private let pairs: [[[Double]]]
  private var count: Int { stems.count }

  /// Computes the correlations between the stems, which must be equally long.
  package init(stems: [[Double]]) {
    let correlator = correlator
    let blocks = stems.map { correlator.blocks($0) }
    self.stems = blocks
    pairs = blocks.map { a in blocks.map { b in correlator.correlation(a, b) } }
  }

  /// The energies of a signal's parts.
  struct Parts {
    /// Energy explained by each group of stems.
    var groups: [Double]
    /// Energy that no stem explains.
    var rest: Double
  }

  /// Computes, for each signal, the energy that each group of stems explains and the energy that no
  /// stem explains. The signals must be as long as the stems.
  func project(_ signals: [[Double]], groups: [[Int]]) -> [Parts] {
    let sides = signals.map { signal -> [[Double]] in
      let blocks = correlator.blocks(signal)
      return stems.map { stem in
        let lags = correlator.correlation(stem, blocks)
        return (0..<Self.taps).map { lags[$0 - Self.early + Self.taps] }
      }
    }
    let filters = solve(sides)
    return signals.indices.map { s in
      let all = Array(0..<count)
      let own = signals[s].reduce(0) { $0 + $1 * $1 }
      var shared = 0.0
      for i in all { shared += dot(filters[s][i], sides[s][i]) }
      return Parts(
        groups: groups.map { energy(filters[s], $0) },
        rest: max(0, own - 2 * shared + energy(filters[s], all)))
    }
  }

  private func energy(_ filters: [[Double]], _ stems: [Int]) -> Double {
    var sum = 0.0
    for i in stems {
      for j in stems {
        for p in 0..<Self.taps {
          var row = 0.0
          for q in 0..<Self.taps { row += pairs[i][j][p - q + Self.taps] * filters[j][q] }
          sum += filters[i][p] * row
        }
      }
    }
    return max(0, sum)
  }

  private func dot(_ a: [Double], _ b: [Double]) -> Double {
    zip(a, b).reduce(0) { $0 + $1.0 * $1.1 }
  }

  /// Returns the block of the normal equations for a lag. `load` is added to the diagonal at lag 0,
  /// so that the equations can be solved even if the stems have silent bands.
  private func block(_ lag: Int, load: Double) -> SmallMatrix {
    var block = SmallMatrix(size: count)
    for i in 0..<count {
      for j in 0..<count { block[i, j] = pairs[i][j][lag + Self.taps] }
      if lag == 0 { block[i, i] += load }
    }
    return block
  }

  /// Solves the normal equations. The right-hand sides and the returned filters are both indexed
  /// `[signal][stem][tap]`.
  private func solve(_ sides: [[[Double]]]) -> [[[Double]]] {
    let taps = Self.taps
    let mean = (0..<count).reduce(0) { $0 + pairs[$1][$1][taps] } / Double(count)
    let blocks = (-taps + 1..<taps).map { block($0, load: 1e-7 * mean) }
    func g(_ lag: Int) -> SmallMatrix { blocks[lag + taps - 1] }
    var forward = [SmallMatrix.identity(count)]
    var backward = forward
    var (forwardError, backwardError) = (g(0), g(0))
    var solutions = sides.map { side in [solveFirst(side, g(0))] }
    for n in 1..<taps {
      // The errors that the predictors make at the new tap if they are extended with a zero.
      var (ahead, behind) = (SmallMatrix(size: count), SmallMatrix(size: count))
      for q in 0..<n {
        ahead.add(g(n - q), times: forward[q])
        behind.add(g(-1 - q), times: backward[q])
      }
      // Extend the forward and the backward predictor by one tap.
      let (f, b) = (backwardError.inverse * ahead, forwardError.inverse * behind)
      let zero = SmallMatrix(size: count)
      let (oldF, oldB) = (forward + [zero], [zero] + backward)
      forward = (0...n).map { oldF[$0] - oldB[$0] * f }
      backward = (0...n).map { oldB[$0] - oldF[$0] * b }
      forwardError = forwardError - behind * f
      backwardError = backwardError - ahead * b
      let last = backwardError.inverse
      // Correct each solution so that its residual at the new tap becomes 0.
      for s in sides.indices {
        var miss = sides[s].map { $0[n] }
        for q in 0..<n { g(n - q).subtract(times: solutions[s][q], from: &miss) }
        let step = last.times(miss)
        solutions[s].append([Double](repeating: 0, count: count))
        for q in 0...n { backward[q].add(times: step, to: &solutions[s][q]) }
      }
    }
    return solutions.map { solution in (0..<count).map { i in solution.map { $0[i] } } }
  }

  private func solveFirst(_ side: [[Double]], _ block: SmallMatrix) -> [Double] {
    block.inverse.times(side.map { $0[0] })
  }
}

struct SmallMatrix {
  let size: Int
  private var values: [Double]

  init(size: Int) {
    self.size = size
    values = [Double](repeating: 0, count: size * size)
  }

  static func identity(_ size: Int) -> SmallMatrix {
    var matrix = SmallMatrix(size: size)
    for i in 0..<size { matrix[i, i] = 1 }
    return matrix
  }

  subscript(row: Int, column: Int) -> Double {
    get { values[row * size + column] }
    set { values[row * size + column] = newValue }
  }

  mutating func add(_ a: SmallMatrix, times b: SmallMatrix, sign: Double = 1) {
    for i in 0..<size {
      for k in 0..<size {
        let factor = sign * a.values[i * size + k]
        for j in 0..<size { values[i * size + j] += factor * b.values[k * size + j] }
      }
    }
  }

  static func * (a: SmallMatrix, b: SmallMatrix) -> SmallMatrix {
    var product = SmallMatrix(size: a.size)
    product.add(a, times: b)
    return product
  }

  static func - (a: SmallMatrix, b: SmallMatrix) -> SmallMatrix {
    var difference = a
    for i in a.values.indices { difference.values[i] -= b.values[i] }
    return difference
  }

  func times(_ x: [Double]) -> [Double] {
    (0..<size).map { row in (0..<size).reduce(0) { $0 + values[row * size + $1] * x[$1] } }
  }

  func subtract(times x: [Double], from y: inout [Double]) {
    for i in 0..<size {
      for j in 0..<size { y[i] -= values[i * size + j] * x[j] }
    }
  }

  func add(times x: [Double], to y: inout [Double]) {
    for i in 0..<size {
      for j in 0..<size { y[i] += values[i * size + j] * x[j] }
    }
  }

  /// The inverse, by Gauss-Jordan elimination with partial pivoting.
  var inverse: SmallMatrix {
    var (a, b) = (self, SmallMatrix.identity(size))
    for column in 0..<size {
      let pivot = (column..<size).max { abs(a[$0, column]) < abs(a[$1, column]) } ?? column
      for j in 0..<size {
        (a[column, j], a[pivot, j]) = (a[pivot, j], a[column, j])
        (b[column, j], b[pivot, j]) = (b[pivot, j], b[column, j])
      }
      let scale = 1 / a[column, column]
      for j in 0..<size {
        a[column, j] *= scale
        b[column, j] *= scale
      }
      for row in 0..<size where row != column {
        let factor = a[row, column]
        for j in 0..<size {
          a[row, j] -= factor * a[column, j]
          b[row, j] -= factor * b[column, j]
        }
      }
    }
    return b
  }
}
