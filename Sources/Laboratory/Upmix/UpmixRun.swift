// SPDX-License-Identifier: Apache-2.0

import Surround

/// Returns the upmix of a stereo sound at 48 kHz: FL, FR, FC, SL and SR, each as long as the input.
/// The latency is removed.
package func upmixed(_ input: [[Float]]) -> [[Double]] {
  let upmixer = Upmixer(sampleRate: UpmixInstruments.rate)
  let (hop, late, frames) = (upmixer.hopFrames, upmixer.latencyFrames, input[0].count)
  let padded = input.map { $0 + [Float](repeating: 0, count: late + hop) }
  let total = (frames + late + hop - 1) / hop * hop
  let memory = UnsafeMutablePointer<Float>.allocate(capacity: 6 * total)
  let planes = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: 6)
  defer {
    memory.deallocate()
    planes.deallocate()
  }
  for start in stride(from: 0, to: total, by: hop) {
    for c in 0..<6 { (planes + c).initialize(to: memory + c * total + start) }
    padded[0].withUnsafeBufferPointer { left in
      padded[1].withUnsafeBufferPointer { right in
        guard let l = left.baseAddress, let r = right.baseAddress else { return }
        upmixer.process(left: l + start, right: r + start, into: planes)
      }
    }
  }
  return [0, 1, 2, 4, 5].map { c in
    UnsafeBufferPointer(start: memory + c * total + late, count: frames).map(Double.init)
  }
}

/// Returns the number of frames by which `output` lags behind the mix, 0 to 8191. Both are folded
/// down to mono with the weight 0.3 for the right side. At the returned lag, the cross-correlation
/// of `output` with an excerpt of the mix is largest.
package func delay(of output: [[Double]], in mix: UpmixMix) -> Int {
  let half = 0.5.squareRoot()
  let (start, count) = (48_000, 16_384)
  let sum = mix.sum
  let input = (0..<count).map { Double(sum[0][start + $0] + 0.3 * sum[1][start + $0]) }
  let folded = output[0].indices.map { i in
    output[0][i] + half * (output[2][i] + output[3][i])
      + 0.3 * (output[1][i] + half * (output[2][i] + output[4][i]))
  }
  var (best, most) = (0, -Double.infinity)
  for lag in 0..<8192 where start + lag + count <= folded.count {
    var likeness = 0.0
    for i in 0..<count { likeness += input[i] * folded[start + lag + i] }
    if likeness > most { (best, most) = (lag, likeness) }
  }
  return best
}
