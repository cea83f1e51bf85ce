// SPDX-License-Identifier: Apache-2.0

private import CRealtime
internal import SignalProcessing

/// The interaural delays of a set's directions at low frequencies.
struct InterauralDelays {
  /// The band in which the phases of the two ears are compared, in Hz.
  static let band = 300.0...800.0

  /// The interaural delay for each direction, in s; positive if sound reaches the left ear first.
  let seconds: [Double]

  init(_ set: HRTFSet) {
    var size = 512
    while size < 2 * set.taps || Double(size) < set.sampleRate / 25 { size *= 2 }
    let bins = Self.bins(width: set.sampleRate / Double(size))
    // The responses of a batch take 16 MB of memory for every 1000 bins of the transform.
    let batch = 1000
    seconds = stride(from: 0, to: set.directions.count, by: batch).flatMap { first in
      let part = first..<min(first + batch, set.directions.count)
      let responses = DirectionalResponses(
        impulseResponses: Array(set.impulseResponses[set.samples(of: part)]), taps: set.taps,
        directions: Array(set.directions[part]), weights: part.map { _ in 1 },
        sampleRate: set.sampleRate, size: size)
      return part.map { d in
        let late = (set.delays[2 * d] - set.delays[2 * d + 1]) / set.sampleRate
        let spectra = bins.map {
          responses[$0, 0, d - first] * responses[$0, 1, d - first].conjugate
        }
        return late == 0
          ? Self.delay(spectra, bins, responses.binWidth)
          : Self.delay(spectra, bins, responses.binWidth) - late
      }
    }
  }

  static func bins(width: Double) -> ClosedRange<Int> {
    Int((band.lowerBound / width).rounded(.up))...Int(band.upperBound / width)
  }

  /// Returns the delay, from -1.24 to 1.24 ms, that maximises the cross-correlation of the ears'
  /// responses. The delay is in s, and positive if sound reaches the left ear first.
  ///
  /// - Parameters:
  ///   - spectra: the left ear's response times the conjugate of the right ear's, for each bin.
  ///   - bins: the indices of the bins that `spectra` contains.
  ///   - width: the width of a bin, in Hz.
  static func delay(_ spectra: [Complex], _ bins: ClosedRange<Int>, _ width: Double) -> Double {
    func correlation(_ seconds: Double) -> Double {
      let step = Complex(angle: -2 * .pi * width * seconds)
      var turn = Complex(angle: -2 * .pi * width * Double(bins.lowerBound) * seconds)
      var sum = 0.0
      for value in spectra {
        sum += value.re * turn.re - value.im * turn.im
        turn = turn * step
      }
      return sum
    }
    var (best, step) = (0.0, 40e-6)
    var greatest = -Double.infinity
    for i in -30...30 where correlation(Double(i) * step) > greatest {
      (greatest, best) = (correlation(Double(i) * step), Double(i) * step)
    }
    while step > 1e-9 {
      step /= 2
      for candidate in [best - step, best + step] where correlation(candidate) > greatest {
        (greatest, best) = (correlation(candidate), candidate)
      }
    }
    return best
  }
}
