// SPDX-License-Identifier: Apache-2.0

package import Binaural
private import CRealtime
private import SignalProcessing

/// Computes how well the filters of `CrosstalkDesign` separate the signals for the two ears, with
/// the head in its intended position, displaced or turned.
package struct CrosstalkTrial: Sendable {
  /// The deviation of the head from its intended position and orientation.
  package struct Head: Sendable, Equatable {
    /// Offset to the front and to the left, in metres.
    var offset: SIMD2<Double>
    /// Turn to the left, in radians.
    var turn: Double

    package init(offset: SIMD2<Double> = SIMD2(0, 0), turn: Double = 0) {
      (self.offset, self.turn) = (offset, turn)
    }
  }

  package struct Result: Sendable, Equatable {
    /// The centres of the third-octave bands, in Hz.
    package var frequencies: [Double]
    /// For each third octave: the level of an ear's signal at that ear relative to the level of the
    /// same signal at the other ear, in dB. The powers are averaged over both ears' signals.
    package var separation: [Double]
    /// For each third octave: the level of an ear's signal at that ear, averaged over both ears,
    /// relative to the mean over all third octaves, in dB.
    var colour: [Double]
    /// The largest boost of the loudspeaker signals in any third octave, in dB, for the same level
    /// at the ears as without cancellation. 0 if nothing is cancelled.
    package var largestBoost: Double

    /// The mean of `separation`, in dB.
    package var meanSeparation: Double { separation.reduce(0, +) / Double(separation.count) }
    /// The root mean square of `colour`, in dB.
    package var colouration: Double {
      (colour.reduce(0) { $0 + $1 * $1 } / Double(colour.count)).squareRoot()
    }
  }

  /// Third-octave centres from 315 Hz to 8 kHz.
  static let frequencies: [Double] = [
    315, 400, 500, 630, 800, 1000, 1250, 1600, 2000, 2500, 3150, 4000, 5000, 6300, 8000,
  ]

  private let set: HRTFSet
  private let angle: Double
  private let filters: CrosstalkFilters
  private let size: Int

  /// Designs the filters for an HRTF set and a pair of loudspeakers.
  ///
  /// - Parameters:
  ///   - set: an HRTF set prepared for the playback rate.
  ///   - angle: the angle between the front and either loudspeaker, in radians.
  package init(set: HRTFSet, angle: Double) {
    self.set = set
    self.angle = angle
    let made = CrosstalkDesign(angle: angle).filters(for: set)
    filters = made
    var size = 4096
    while size < set.taps + made.leftEar[0].count { size *= 2 }
    self.size = size
  }

  /// Computes separation, colouration and boost for a position and orientation of the head.
  ///
  /// - Parameter isCancelling: false to measure the loudspeakers without the filters.
  package func result(_ head: Head, isCancelling: Bool) -> Result {
    let plant = LoudspeakerPlant(
      set, .init(angle: angle, offset: head.offset, turn: head.turn), size: size)
    let straight = LoudspeakerPlant(set, .init(angle: angle), size: size)
    let feeds = isCancelling ? spectra : plain
    var own = [Double](repeating: 0, count: plant.bins)
    var other = own
    var gain = own
    var colour = own
    for k in 0..<plant.bins {
      for ear in 0...1 {
        // The signal for `ear` arrives at it as `here`, and at the other ear as `there`.
        let (near, far) = (feeds[ear][ear][k], feeds[ear][1 - ear][k])
        let here = near * plant.values[ear][ear][k] + far * plant.values[1 - ear][ear][k]
        let there = near * plant.values[ear][1 - ear][k] + far * plant.values[1 - ear][1 - ear][k]
        own[k] += here.squaredMagnitude / 2
        other[k] += there.squaredMagnitude / 2
        for speaker in 0...1 { colour[k] += straight.values[speaker][ear][k].squaredMagnitude / 2 }
      }
      // The larger of the filters' power gains for equal and for opposite ear signals.
      let sum = feeds[0][0][k] + feeds[0][1][k]
      let difference = feeds[0][0][k] + feeds[0][1][k] * -1
      gain[k] = max(sum.squaredMagnitude, difference.squaredMagnitude)
    }
    let width = plant.binWidth
    // Returns the mean power in each third octave, in dB.
    func bands(_ values: [Double]) -> [Double] {
      Self.frequencies.map { centre in
        let bins = Int((centre * 0.891 / width).rounded())...Int((centre * 1.122 / width).rounded())
        return 10 / realtime_log(10)
          * realtime_log(max(1e-20, bins.reduce(0) { $0 + values[$1] } / Double(bins.count)))
      }
    }
    let (level, crosstalk) = (bands(own), bands(other))
    let mean = level.reduce(0, +) / Double(level.count)
    // The boost is relative to the loudspeakers' mean response from 200 Hz to 8 kHz.
    let whole = Int(200 / width)...Int(8000 / width)
    let usual = whole.reduce(0) { $0 + colour[$1] } / Double(whole.count)
    let boosts = zip(bands(gain), bands(colour.map { $0 / usual })).map { $0 + $1 }
    return Result(
      frequencies: Self.frequencies, separation: zip(level, crosstalk).map { $0 - $1 },
      colour: level.map { $0 - mean }, largestBoost: isCancelling ? boosts.max() ?? 0 : 0)
  }

  /// The filters' spectra: 2 ears x 2 loudspeakers x bins.
  private var spectra: [[[Complex]]] {
    let fft = RealFFT(size: size)
    return [filters.leftEar, filters.rightEar].map { ear in
      ear.map { taps in
        let time = AlignedFloats(count: size)
        let re = AlignedFloats(count: fft.bins)
        let im = AlignedFloats(count: fft.bins)
        for n in taps.indices { time.pointer[n] = taps[n] }
        fft.forward(time.pointer, real: re.pointer, imaginary: im.pointer)
        return (0..<fft.bins).map { Complex(Double(re.pointer[$0]), Double(im.pointer[$0])) }
      }
    }
  }

  /// The feeds without cancellation: each ear's signal goes to the loudspeaker on the ear's side.
  private var plain: [[[Complex]]] {
    let bins = size / 2 + 1
    let (one, none) = (
      [Complex](repeating: Complex(1), count: bins), [Complex](repeating: Complex(0), count: bins)
    )
    return [[one, none], [none, one]]
  }
}
