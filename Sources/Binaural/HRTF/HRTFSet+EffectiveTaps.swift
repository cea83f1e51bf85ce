// SPDX-License-Identifier: Apache-2.0

extension HRTFSet {
  /// The smallest number of taps after which at most a millionth (-60 dB) of the set's energy
  /// remains; `taps` for a silent set.
  var effectiveTaps: Int {
    var energy = [Double](repeating: 0, count: taps)
    for row in 0..<(directions.count * 2) {
      for n in 0..<taps {
        let x = Double(impulseResponses[row * taps + n])
        energy[n] += x * x
      }
    }
    let limit = energy.reduce(0, +) * 1e-6
    var rest = 0.0
    for n in stride(from: taps - 1, through: 0, by: -1) {
      rest += energy[n]
      if rest > limit { return n + 1 }
    }
    return taps
  }
}
