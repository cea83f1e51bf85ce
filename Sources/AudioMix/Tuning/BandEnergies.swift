// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing

/// Measures the mean square of a signal in four bands, in pieces of 100 ms.
///
/// The bands are 0 to 100 Hz, 100 to 350 Hz, 350 to 2000 Hz and 2000 to 6000 Hz. The slopes are 12
/// dB per octave.
struct BandEnergies {
  /// The mean square of each band in one piece.
  typealias Piece = SIMD4<Double>

  private(set) var pieces: [Piece] = []
  private let pieceFrames: Int
  private var sums = Piece.zero
  private var count = 0
  /// A high-pass and a low-pass filter for each band, with their states. A filter is nil if the
  /// band has no lower edge or if the edge is too high for the sample rate.
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
    pieces.append(sums / Double(pieceFrames))
    (sums, count) = (.zero, 0)
  }
}
