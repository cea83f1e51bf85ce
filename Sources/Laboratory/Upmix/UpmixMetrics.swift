// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The quality of an upmix; see docs/upmix.md.
package struct UpmixMetrics: Codable {
  /// Error of the fold-down relative to the input, in dB. The left fold-down is FL + 0.7071 FC +
  /// 0.7071 SL.
  package var foldDownError: Double
  /// Level of the centre sound in the output relative to its level in the mix, in dB.
  package var centreEnergy: Double
  /// Level of the panned sounds in the output relative to their level in the mix, in dB.
  package var pannedEnergy: Double
  /// Level of the ambience in the output relative to its level in the mix, in dB.
  package var ambienceEnergy: Double
  /// Level of the centre sound in FC relative to the other sounds in FC, in dB.
  package var centreToOthers: Double
  /// Share of the centre sound's energy that is in FC, from 0 to 1.
  package var centreShare: Double
  /// Level of the ambience in SL and SR relative to the other sounds in SL and SR, in dB.
  package var ambienceToOthers: Double
  /// Share of the ambience's energy that is in SL and SR, from 0 to 1.
  package var ambienceShare: Double
  /// Largest magnitude of the normalised cross-correlation of SL and SR at lags of up to 20 ms,
  /// computed without the first and the last 0.5 s of the sound.
  package var surroundCorrelation: Double

  /// Measures an upmix.
  ///
  /// - Parameters:
  ///   - mix: the mix that was upmixed.
  ///   - projection: the projection onto five stems: the centre, panned left, panned right,
  ///     ambience left and ambience right.
  ///   - output: FL, FR, FC, SL, SR x frames, with the latency removed.
  package init(_ mix: UpmixMix, _ projection: UpmixProjection, output: [[Double]]) {
    let parts = projection.project(output, groups: [[0], [1, 2], [3, 4]])
    func all(_ group: Int) -> Double { parts.reduce(0) { $0 + $1.groups[group] } }
    func level(_ group: Int, _ stem: [[Double]]) -> Double {
      decibels(all(group) / stem.reduce(0) { $0 + Self.energy($1) })
    }
    foldDownError = Self.foldDownError(mix, output)
    centreEnergy = level(0, mix.centre)
    pannedEnergy = level(1, mix.panned)
    ambienceEnergy = level(2, mix.ambience)
    let front = parts[2].groups
    centreToOthers = decibels(front[0] / (front[1] + front[2]))
    centreShare = front[0] / all(0)
    let around = (0..<3).map { parts[3].groups[$0] + parts[4].groups[$0] }
    ambienceToOthers = decibels(around[2] / (around[0] + around[1]))
    ambienceShare = around[2] / all(2)
    let correlator = Correlator(reach: 1024)
    let cut = output[3...].map { Array($0.dropFirst(24_000).dropLast(24_000)) }
    let lags = correlator.correlation(correlator.blocks(cut[0]), correlator.blocks(cut[1]))
    let most = lags[(1024 - 960)...(1024 + 960)].reduce(0) { max($0, abs($1)) }
    surroundCorrelation = most / max(1e-30, Self.energy(cut[0]) * Self.energy(cut[1])).squareRoot()
  }

  private static func energy(_ x: [Double]) -> Double { x.reduce(0) { $0 + $1 * $1 } }

  private static func foldDownError(_ mix: UpmixMix, _ output: [[Double]]) -> Double {
    let half = 0.5.squareRoot()
    var (error, whole) = (0.0, 0.0)
    for (c, input) in mix.sum.enumerated() {
      for i in input.indices {
        let folded = output[c][i] + half * (output[2][i] + output[3 + c][i])
        let difference = folded - Double(input[i])
        error += difference * difference
        whole += Double(input[i]) * Double(input[i])
      }
    }
    return decibels(error / whole)
  }

  /// The name, value and required range of each metric.
  package var limits: [(name: String, value: Double, atLeast: Double, atMost: Double)] {
    let any = Double.infinity
    return [
      ("fold-down error (dB)", foldDownError, -any, -100),
      ("energy change of the centre (dB)", centreEnergy, -1, 1),
      ("energy change of panned sound (dB)", pannedEnergy, -1, 1),
      ("energy change of the ambience (dB)", ambienceEnergy, -1, 1),
      ("centre over others in FC (dB)", centreToOthers, 16, any),
      ("share of the centre in FC", centreShare, 0.9, any),
      ("ambience over others in SL and SR (dB)", ambienceToOthers, 9, any),
      ("share of the ambience in SL and SR", ambienceShare, 0.3, any),
      ("correlation of SL and SR", surroundCorrelation, 0, 0.1),
    ]
  }
}

private func decibels(_ ratio: Double) -> Double { 10 * log10(max(1e-15, ratio)) }
