// SPDX-License-Identifier: Apache-2.0

internal import CRealtime
internal import SignalProcessing

/// A decaying histogram of directions on the sphere.
///
/// The entries are collected in the 600 cells of a Fibonacci grid. A cell also stores the weighted
/// sum of the directions of its entries, so that a peak can lie between the centres of the cells.
/// The cells are smoothed with the kernel exp(40 (cos g - 1)), where g is the angle between the
/// centres of two cells. Kernel values of at most 0.01 count as 0.
struct DirectionHistogram: ~Copyable {
  static let cells = 600
  private static let face = 24

  /// The centres of the cells: x, y, z and 0.
  let centres: UnsafeMutablePointer<SIMD4<Float>>
  /// For each cell, the smoothed sums of the weighted directions (x, y, z) and of the weights (w).
  let smooth: UnsafeMutablePointer<SIMD4<Float>>
  /// For each cell, the smoothed sum of the weights minus the median over all cells, at least 0.
  /// `SourceTracker` then sets the values around the peaks to 0.
  let heights: AlignedFloats
  /// The ratio of `peak` to the mean of the smoothed sums of weights; 0 without entries.
  private(set) var concentration: Float = 0
  /// The highest smoothed sum of weights.
  private(set) var peak: Float = 0

  private let raw: UnsafeMutablePointer<SIMD4<Float>>
  private let sorted: AlignedFloats
  private let starts: [Int32]
  private let neighbours: [Int32]
  private let weights: [Float]
  private let nearest: [Int16]
  private let keep: Float

  /// Prepares an empty histogram. `hop` is the time between two calls of `fade`, and `decay` is the
  /// time constant of the decay, both in seconds.
  init(hop: Double, decay: Double) {
    keep = Float(realtime_exp(-hop / decay))
    let count = Self.cells
    centres = .allocate(capacity: count)
    smooth = .allocate(capacity: count)
    raw = .allocate(capacity: count)
    smooth.initialize(repeating: .zero, count: count)
    raw.initialize(repeating: .zero, count: count)
    heights = AlignedFloats(count: count)
    sorted = AlignedFloats(count: count)
    for i in 0..<count {
      let z = 1 - 2 * (Double(i) + 0.5) / Double(count)
      let turn = Double.pi * (1 + Double(5).squareRoot()) * (Double(i) + 0.5)
      let radius = (1 - z * z).squareRoot()
      (centres + i).initialize(
        to: SIMD4(
          Float(radius * realtime_cos(turn)), Float(radius * realtime_sin(turn)), Float(z), 0))
    }
    var (starts, neighbours, weights): ([Int32], [Int32], [Float]) = ([0], [], [])
    for i in 0..<count {
      for j in 0..<count {
        let weight = realtime_exp(40 * (Double((centres[i] * centres[j]).sum()) - 1))
        guard weight > 0.01 else { continue }
        neighbours.append(Int32(j))
        weights.append(Float(min(1, weight)))
      }
      starts.append(Int32(neighbours.count))
    }
    (self.starts, self.neighbours, self.weights) = (starts, neighbours, weights)
    nearest = Self.cubeMap(centres)
  }

  deinit {
    centres.deallocate()
    smooth.deallocate()
    raw.deallocate()
  }

  mutating func reset() {
    for i in 0..<Self.cells { raw[i] = .zero }
    concentration = 0
    peak = 0
  }

  /// Returns, for each field of a cube map, the index of the nearest cell. Each side of the cube
  /// has 24 x 24 fields.
  private static func cubeMap(_ centres: UnsafeMutablePointer<SIMD4<Float>>) -> [Int16] {
    var map = [Int16]()
    for side in 0..<6 {
      for field in 0..<(face * face) {
        var place = SIMD4<Float>.zero
        place[side / 2] = side % 2 == 0 ? 1 : -1
        place[(side / 2 + 1) % 3] = (Float(field / face) + 0.5) / Float(face) * 2 - 1
        place[(side / 2 + 2) % 3] = (Float(field % face) + 0.5) / Float(face) * 2 - 1
        var best = 0
        for i in 1..<cells where (centres[i] * place).sum() > (centres[best] * place).sum() {
          best = i
        }
        map.append(Int16(best))
      }
    }
    return map
  }

  /// Lets the histogram decay by one step, and then reduces it by the fraction `loss`, 0 to 1.
  func fade(loss: Float) {
    let keep = keep * (1 - loss)
    for i in 0..<Self.cells { raw[i] *= keep }
  }

  /// Adds an entry in the direction (x, y, z), a unit vector. The weight must be 0 or more.
  @inline(__always)
  func add(_ x: Float, _ y: Float, _ z: Float, weight: Float) {
    let (ax, ay, az) = (abs(x), abs(y), abs(z))
    var (side, most, u, v) = (0, x, y, z)
    if ay > ax && ay >= az { (side, most, u, v) = (2, y, z, x) }
    if az > ax && az > ay { (side, most, u, v) = (4, z, x, y) }
    let size = abs(most)
    guard size > 0 else { return }
    let half = Float(Self.face) / 2
    let row = min(Self.face - 1, max(0, Int((u / size + 1) * half)))
    let column = min(Self.face - 1, max(0, Int((v / size + 1) * half)))
    let field = ((side + (most < 0 ? 1 : 0)) * Self.face + row) * Self.face + column
    nearest.withUnsafeBufferPointer {
      raw[Int($0[field])] += SIMD4(x, y, z, 1) * weight
    }
  }

  mutating func update() {
    var (total, top): (Float, Float) = (0, 0)
    starts.withUnsafeBufferPointer { starts in
      neighbours.withUnsafeBufferPointer { neighbours in
        weights.withUnsafeBufferPointer { weights in
          for i in 0..<Self.cells {
            var sum = SIMD4<Float>.zero
            for n in Int(starts[i])..<Int(starts[i + 1]) {
              sum += raw[Int(neighbours[n])] * weights[n]
            }
            smooth[i] = sum
            sorted.pointer[i] = sum.w
            total += sum.w
            top = max(top, sum.w)
          }
        }
      }
    }
    peak = top
    concentration = total > 1e-30 ? top * Float(Self.cells) / total : 0
    let middle = median()
    for i in 0..<Self.cells { heights.pointer[i] = max(0, smooth[i].w - middle) }
  }

  /// Returns the median of `sorted` by Hoare's selection algorithm, which reorders the values.
  private func median() -> Float {
    let values = sorted.pointer
    let wanted = Self.cells / 2
    var (low, high) = (0, Self.cells - 1)
    while low < high {
      let pivot = values[wanted]
      var (i, j) = (low, high)
      while i <= j {
        while values[i] < pivot { i += 1 }
        while values[j] > pivot { j -= 1 }
        if i <= j {
          (values[i], values[j]) = (values[j], values[i])
          i += 1
          j -= 1
        }
      }
      if j < wanted { low = i }
      if i > wanted { high = j }
    }
    return values[wanted]
  }
}
