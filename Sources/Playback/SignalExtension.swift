// SPDX-License-Identifier: Apache-2.0

/// Goes on with a sound beyond its end, as its past predicts: tones go on as tones, noise dies away.
///
/// The prediction is linear, its coefficients are Burg's (J. P. Burg, "Maximum entropy spectral
/// analysis", 1967), which are stable whatever the sound; so gaps in recordings are bridged (I.
/// Kauppinen and K. Roth, "Audio signal extrapolation: theory and applications", Proc. DAFx, 2002).
enum SignalExtension {
  /// Terms of the prediction.
  static let order = 64

  /// - Parameters:
  ///   - past: the last samples, the newest last.
  ///   - frames: how many are wanted.
  /// - Returns: `frames` samples, never louder than the past was.
  static func after(_ past: [Float], frames: Int) -> [Float] {
    let limit = past.reduce(0) { max($0, abs($1)) }
    guard limit > 0, past.count > 2 * order else { return [Float](repeating: 0, count: frames) }
    let coefficients = burg(past.map(Double.init))
    var line = past.suffix(order).map(Double.init)
    line.reserveCapacity(order + frames)
    for _ in 0..<frames {
      let end = line.count
      var next = 0.0
      for (k, a) in coefficients.enumerated() { next -= a * line[end - 1 - k] }
      line.append(max(-Double(limit), min(Double(limit), next)))
    }
    return line.dropFirst(order).map(Float.init)
  }

  /// a(1) to a(order) of the prediction error filter 1 + a(1) z^-1 + ...
  private static func burg(_ x: [Double]) -> [Double] {
    var (forward, backward) = (x, x)
    var a: [Double] = []
    for m in 1...order {
      var (numerator, energy) = (0.0, 0.0)
      for n in m..<x.count {
        numerator += forward[n] * backward[n - 1]
        energy += forward[n] * forward[n] + backward[n - 1] * backward[n - 1]
      }
      // What is predicted to the last bit needs no more terms.
      guard energy > 1e-24 else { break }
      let k = -2 * numerator / energy
      a = a.indices.map { a[$0] + k * a[a.count - 1 - $0] } + [k]
      for n in stride(from: x.count - 1, through: m, by: -1) {
        let (f, b) = (forward[n], backward[n - 1])
        forward[n] = f + k * b
        backward[n] = b + k * f
      }
    }
    return a
  }
}
