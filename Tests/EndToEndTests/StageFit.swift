// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The yaw and gain with which the scene's renders fit 2 ms of a recording best.
struct StageFit {
  let yaw: Double
  let gain: Double
  let residualDecibels: Double

  init?(_ recording: Recording, _ frame: Int, _ scene: Scene, _ place: Int) {
    guard place >= 0, place + HeardStage.hop <= scene.frames else { return nil }
    var matrix = [[Double]](repeating: [0, 0, 0], count: 3)
    var target = [0.0, 0.0, 0.0]
    var energy = 0.0
    for ear in 0..<2 {
      for i in 0..<HeardStage.hop {
        let parts = [
          Double(scene.whole[ear][place + i]), Double(scene.front[ear][place + i]),
          Double(scene.side[ear][place + i]),
        ]
        let heard = Double(recording.ears[ear][frame + i])
        energy += heard * heard
        for row in 0..<3 {
          target[row] += parts[row] * heard
          for column in 0..<3 { matrix[row][column] += parts[row] * parts[column] }
        }
      }
    }
    guard energy > 0, let gains = solve(matrix, target) else { return nil }
    yaw = atan2(gains[2], gains[1]) * 180 / Double.pi
    gain = gains[0]
    let explained = zip(gains, target).reduce(0) { $0 + $1.0 * $1.1 }
    residualDecibels = 10 * log10(max(1e-12, (energy - explained) / energy))
  }
}

/// Solves a symmetric system of three equations; nil if it has no unique solution.
private func solve(_ matrix: [[Double]], _ target: [Double]) -> [Double]? {
  var (m, t) = (matrix, target)
  for pivot in 0..<3 {
    guard m[pivot][pivot] > 1e-14 * matrix[0][0] else { return nil }
    for row in pivot + 1..<3 {
      let factor = m[row][pivot] / m[pivot][pivot]
      for column in pivot..<3 { m[row][column] -= factor * m[pivot][column] }
      t[row] -= factor * t[pivot]
    }
  }
  for row in (0..<3).reversed() {
    for column in row + 1..<3 { t[row] -= m[row][column] * t[column] }
    t[row] /= m[row][row]
  }
  return t
}
