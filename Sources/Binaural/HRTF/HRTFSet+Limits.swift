// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Limits on sets and decoders. They bound the memory and the time that a design takes, and exclude
/// implausible levels.
enum HRTFLimit {
  /// The maximum sum of the length of the responses and the longest delay in the set, in s. Longer
  /// responses are cut off.
  static let responseSeconds = 0.0625
  /// The longest accepted delay of a response, in s. Sound travels about 11 m in this time.
  static let delaySeconds = 0.03125
  /// The maximum number of directions that are used.
  static let directions = 16_384
  /// The maximum product of the number of directions and the number of frequency bins in a design.
  /// Larger sets are thinned out, but 400 directions are always permitted. A bin of one direction
  /// takes 16 bytes.
  static let responseValues = 1 << 25
  /// The maximum number of samples in a set that `prepared(sampleRate:)` resampled.
  static let preparedSamples = 1 << 26
  /// The accepted diffuse-field levels of a set before normalisation, in dB.
  static let levels = -60.0...60.0
  /// The greatest accepted deviation of a decoder's diffuse-field level from 0 dB, in dB.
  static let designLevel = 12.0
}

extension HRTFSet {
  /// Returns the set reduced to `HRTFLimit.responseSeconds` and `HRTFLimit.directions`. Adds a note
  /// if more than a millionth (-60 dB) of the energy was cut off, and another if directions were
  /// left out.
  ///
  /// - Throws: `HRTFError.refused` if a delay is too long or the diffuse-field level is outside
  ///   `HRTFLimit.levels`.
  func limited() throws(HRTFError) -> HRTFSet {
    let longestDelay = (delays.max() ?? 0) / sampleRate
    guard longestDelay <= HRTFLimit.delaySeconds else {
      throw refusal(
        "its longest delay is \(decimal(1000 * longestDelay, digits: 1)) ms; at most "
          + "\(decimal(1000 * HRTFLimit.delaySeconds, digits: 1)) ms are supported")
    }
    let room = HRTFLimit.responseSeconds - longestDelay
    var result = cut(to: Int(room * sampleRate))
    result = result.thinned(to: HRTFLimit.directions)
    if result.directions.count < directions.count {
      result.notes.append(
        "the set has \(directions.count) directions; only "
          + "\(result.directions.count) of them are used")
    }
    let level = result.estimatedLevelDecibels
    guard HRTFLimit.levels.contains(level) else {
      throw refusal(
        "its diffuse-field level is \(decimal(level, digits: 1)) dB; -60 to 60 dB are supported")
    }
    return result
  }

  func refusal(_ check: String) -> HRTFError { .refused(path: path ?? name, check: check) }

  /// The diffuse-field level, in dB. To save time, it is estimated from fewer than 1000 directions
  /// without area weights. If the estimate is not between -40 and 40 dB, the exact level is
  /// computed.
  private var estimatedLevelDecibels: Double {
    let step = max(1, directions.count / 500)
    var weights = [Double](repeating: 0, count: directions.count)
    let chosen = stride(from: 0, to: directions.count, by: step)
    for index in chosen { weights[index] = 1 / Double(chosen.underestimatedCount) }
    let level = diffuseFieldLevelDecibels(weights: weights)
    return abs(level) < 40 ? level : diffuseFieldLevelDecibels
  }

  /// Returns the set with responses of at most `limit` samples. If more than a millionth (-60 dB)
  /// of the energy is cut off, the ends are faded out and a note is added.
  private func cut(to limit: Int) -> HRTFSet {
    guard taps > limit else { return self }
    var (result, kept, lost) = (self, 0.0, 0.0)
    result.taps = limit
    result.impulseResponses = []
    result.impulseResponses.reserveCapacity(delays.count * limit)
    impulseResponses.withUnsafeBufferPointer { samples in
      for row in delays.indices {
        let start = row * taps
        result.impulseResponses += samples[start..<start + limit]
        kept += energy(samples, start, limit)
        lost += energy(samples, start + limit, taps - limit)
      }
    }
    guard lost > 1e-6 * (kept + lost) else { return result }
    result.fadeOut(over: limit / 16)
    let milliseconds = decimal(1000 * Double(limit) / sampleRate, digits: 1)
    result.notes.append(
      "the impulse responses have \(taps) samples; only the first \(limit) (\(milliseconds) ms) "
        + "are used, which contain \(decimal(100 * kept / (kept + lost), digits: 1)) % of the "
        + "energy")
    return result
  }

  private mutating func fadeOut(over length: Int) {
    for row in delays.indices {
      for n in 0..<length {
        let share = 0.5 - 0.5 * cos(.pi * (Double(n) + 0.5) / Double(length))
        impulseResponses[(row + 1) * taps - 1 - n] *= Float(share)
      }
    }
  }

  /// Returns the set with at most `count` directions. If this set has more, only the direction
  /// nearest to each point of a Fibonacci lattice is kept. The points are spread roughly evenly
  /// over the sphere.
  func thinned(to count: Int) -> HRTFSet {
    guard directions.count > count else { return self }
    let grid = NeighbourGrid(directions)
    let chosen = Set(fibonacciLattice(count: count).map { nearest(to: $0, grid) }).sorted()
    var result = self
    result.directions = chosen.map { directions[$0] }
    result.delays = chosen.flatMap { [delays[2 * $0], delays[2 * $0 + 1]] }
    result.impulseResponses = []
    result.impulseResponses.reserveCapacity(chosen.count * 2 * taps)
    for index in chosen {
      let start = offset(direction: index, ear: 0)
      result.impulseResponses += impulseResponses[start..<start + 2 * taps]
    }
    return result
  }

  private func nearest(to v: SIMD3<Double>, _ grid: NeighbourGrid) -> Int {
    var (best, index, shell) = (Double.infinity, 0, 0)
    while grid.reaches(shell: shell), Double(shell - 1) * grid.side < best {
      grid.forEach(inShell: shell, around: v) { candidate in
        let distance = (directions[candidate] - v).length
        if distance < best { (best, index) = (distance, candidate) }
      }
      shell += 1
    }
    return index
  }
}
