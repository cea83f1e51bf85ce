// SPDX-License-Identifier: Apache-2.0

internal import CRealtime
internal import SignalProcessing

/// Measures the mean square of a signal in four bands, in pieces of 100 ms.
///
/// The bands are 0 to 100 Hz, 100 to 350 Hz, 350 to 2000 Hz and 2000 to 6000 Hz. The slopes are 12
/// dB per octave. The pieces are kept in a histogram of their levels, so that the memory use is
/// constant.
struct BandEnergies {
  /// The mean square of each band in one piece.
  typealias Piece = SIMD4<Double>

  /// The pieces whose levels lie in the same tenth of a decibel.
  private struct Bin {
    var count = 0
    var sum = Piece.zero
  }

  /// Pieces below -60 dB are in the first bin, and those of 39.9 dB or more in the last one.
  private static let (lowest, binsPerDecibel, binCount) = (-60.0, 10.0, 1001)
  /// How far an active piece may be below the 95 % quantile of the levels, in bins.
  private static let activeBins = 250

  private var bins = [Bin](repeating: Bin(), count: binCount)
  private let pieceFrames: Int
  private var sums = Piece.zero
  private var count = 0
  /// A high-pass and a low-pass filter for each band, with their states. The high-pass filter of
  /// the lowest band is nil, and so are filters whose frequency is too high for the sample rate.
  private var sections: [(filter: Biquad?, s1: Double, s2: Double)]

  static let edges = [100.0, 350, 2000, 6000]

  init(sampleRate: Double) {
    pieceFrames = max(1, Int(sampleRate / 10))
    sections = Self.edges.indices.flatMap { band -> [(filter: Biquad?, s1: Double, s2: Double)] in
      let low = band == 0 ? nil : Self.filter(.highPass, Self.edges[band - 1], sampleRate)
      return [(low, 0, 0), (Self.filter(.lowPass, Self.edges[band], sampleRate), 0, 0)]
    }
  }

  private static func filter(
    _ kind: ParametricFilter.Kind, _ frequency: Double, _ rate: Double
  ) -> Biquad? {
    ParametricFilter(kind, frequency: frequency, quality: 0.5.squareRoot())
      .biquad(sampleRate: rate)
  }

  /// Adds the next sample, which must be finite.
  mutating func add(_ sample: Double) {
    for band in 0..<4 {
      var x = sample
      for k in 2 * band...2 * band + 1 {
        guard let filter = sections[k].filter else { continue }
        let y = filter.b0 * x + sections[k].s1
        sections[k].s1 = filter.b1 * x - filter.a1 * y + sections[k].s2
        sections[k].s2 = filter.b2 * x - filter.a2 * y
        x = y
      }
      sums[band] += x * x
    }
    count += 1
    guard count == pieceFrames else { return }
    keep(sums / Double(pieceFrames))
    (sums, count) = (.zero, 0)
  }

  /// Returns a power in dB; -200 dB for 1e-20 or less.
  static func decibels(_ power: Double) -> Double {
    10 * realtime_log(max(power, 1e-20)) / 2.302585092994046
  }

  private mutating func keep(_ piece: Piece) {
    let place = (Self.decibels(piece.sum()) - Self.lowest) * Self.binsPerDecibel + 1
    let bin = Int(max(0, min(Double(Self.binCount - 1), place)))
    bins[bin].count += 1
    bins[bin].sum += piece
  }

  /// The number and the mean of all pieces.
  var all: (count: Int, mean: Piece) { Self.summary(bins[...]) }

  /// The number and the mean of the pieces whose level is at least -60 dB and at most 25 dB below
  /// the 95 % quantile of all levels.
  var active: (count: Int, mean: Piece) {
    let total = bins.reduce(0) { $0 + $1.count }
    var (loud, below) = (0, bins[0].count)
    while below <= total * 95 / 100, loud < Self.binCount - 1 {
      loud += 1
      below += bins[loud].count
    }
    return Self.summary(bins[max(1, loud - Self.activeBins)...])
  }

  private static func summary(_ bins: ArraySlice<Bin>) -> (count: Int, mean: Piece) {
    let count = bins.reduce(0) { $0 + $1.count }
    let sum = bins.reduce(Piece.zero) { $0 + $1.sum }
    return (count, count == 0 ? .zero : sum / Double(count))
  }
}
