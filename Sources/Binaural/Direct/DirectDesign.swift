// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import SignalProcessing

/// Designs the `DirectionalBank` for a set.
///
/// Each response is advanced by its arrival time (`GapFilling.arrival`) and divided by the colour
/// of the diffuse field. The filters of the bank are the principal components of these responses,
/// with the colour restored (Kistler and Wightman, J. Acoust. Soc. Am. 91, 1637, 1992, who used
/// magnitudes). The gains of the components are interpolated between the directions.
public struct DirectDesign: Sendable {
  public var equalisation: DecoderDesign.Equalisation

  public init(equalisation: DecoderDesign.Equalisation = .none) {
    self.equalisation = equalisation
  }

  /// The number of frames before the arrival in an aligned response.
  private static let lead = 64

  /// Returns the bank for a set that was prepared for the playback rate and normalised in level.
  ///
  /// - Throws: `HRTFError.interrupted` if `isCancelled` returned true.
  public func bank(
    for set: HRTFSet, isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws(HRTFError) -> DirectionalBank {
    let taps = DecoderDesign(order: 1).filterTaps(set)
    let size = DirectionalResponses.transformSize(taps: taps)
    var responses = try DecoderDesign.responses(of: set, size: size, isCancelled)
    if equalisation == .diffuse { DecoderDesign.flatten(&responses) }
    var aligned = GapFilling.shifted(responses, by: 1, isCancelled)
    let colour = Self.colour(of: responses)
    for k in 0..<aligned.bins { aligned.multiply(bin: k, by: Complex(1 / colour[k])) }
    if isCancelled() { throw .interrupted }
    // Anechoic responses have decayed after about 9 ms, which is 448 frames at 48 kHz.
    let usual = Int(max(448, 448 * set.sampleRate / 48000))
    let length = min(size - Self.lead, min(taps, usual)) + Self.lead
    let rows = Self.impulseResponses(aligned, length: length)
    let components = PrincipalComponents(
      rows: rows, columns: length, weights: aligned.weights.flatMap { [$0, $0] },
      count: DirectionalBank.rank)
    if isCancelled() { throw .interrupted }
    let gains = components.gains(of: rows)
    return DirectionalBank(
      filters: Self.filters(components, colour, size: size, taps: taps),
      gains: Self.grid(gains, responses.directions))
  }

  /// Returns the amplitude of the diffuse field in each bin, smoothed over a third of an octave.
  /// The values are at least -50 dB relative to the maximum.
  private static func colour(of responses: DirectionalResponses) -> [Double] {
    let energy = (0..<responses.bins).map { responses.diffuseEnergy(bin: $0) / 2 }
    let smooth = energy.indices.map { k in
      let from = Int((Double(k) * 0.891).rounded())
      let to = min(energy.count - 1, max(from, Int((Double(k) * 1.122).rounded())))
      return energy[from...to].reduce(0, +) / Double(to - from + 1)
    }
    let floor = (smooth.max() ?? 1) * 1e-5 + 1e-30
    return smooth.map { max($0, floor).squareRoot() }
  }

  /// Returns the impulse responses, directions x 2 ears x `length` frames. The first `lead` frames
  /// precede the arrival.
  private static func impulseResponses(
    _ responses: DirectionalResponses, length: Int
  ) -> [Float] {
    let (count, size) = (responses.directions.count, responses.size)
    var result = [Float](repeating: 0, count: 2 * count * length)
    result.withUnsafeMutableBufferPointer { result in
      let target = SharedMemory(floats: result.baseAddress!)
      concurrently(2) { ear in
        let batch = 16
        let fft = RealFFT(size: size, batch: batch)
        let re = AlignedFloats(count: fft.bins * batch)
        let im = AlignedFloats(count: fft.bins * batch)
        let time = AlignedFloats(count: size * batch)
        for first in stride(from: 0, to: count, by: batch) {
          let filled = min(batch, count - first)
          for k in 0..<fft.bins {
            responses.withRow(bin: k, ear: ear) { row in
              for lane in 0..<filled {
                re.pointer[k * batch + lane] = row[first + lane]
                im.pointer[k * batch + lane] = row[responses.lanes + first + lane]
              }
            }
          }
          fft.inverse(real: re.pointer, imaginary: im.pointer, time: time.pointer)
          for lane in 0..<filled {
            let row = target.floats + (2 * (first + lane) + ear) * length
            for n in 0..<length {
              row[n] = time.pointer[(n + size - lead) % size * batch + lane]
            }
          }
        }
      }
    }
    return result
  }

  /// Returns the filters, components x `taps`: the principal components with the colour restored
  /// and without the frames before the arrival. The last eighth of each filter is faded out.
  private static func filters(
    _ components: PrincipalComponents, _ colour: [Double], size: Int, taps: Int
  ) -> [[Float]] {
    let fft = RealFFT(size: size)
    let time = AlignedFloats(count: size)
    let re = AlignedFloats(count: fft.bins)
    let im = AlignedFloats(count: fft.bins)
    let fall = taps / 8
    return components.vectors.map { vector in
      time.clear()
      for (n, x) in vector.enumerated() { time.pointer[(n + size - lead) % size] = Float(x) }
      fft.forward(time.pointer, real: re.pointer, imaginary: im.pointer)
      for k in 0..<fft.bins {
        re.pointer[k] *= Float(colour[k])
        im.pointer[k] *= Float(colour[k])
      }
      fft.inverse(real: re.pointer, imaginary: im.pointer, time: time.pointer)
      return (0..<taps).map { n in
        let left = Double(taps - n) / Double(fall + 1)
        return time.pointer[n] * Float(left >= 1 ? 1 : 0.5 - 0.5 * realtime_cos(.pi * left))
      }
    }
  }

  /// Returns the gains for the directions of the bank's grid, interpolated between `directions`.
  private static func grid(_ gains: [Float], _ directions: [SIMD3<Double>]) -> [Float] {
    let (rows, columns) = (DirectionalBank.rows, DirectionalBank.columns)
    let width = 2 * DirectionalBank.rank
    var result = [Float](repeating: 0, count: rows * columns * width)
    result.withUnsafeMutableBufferPointer { result in
      let target = SharedMemory(floats: result.baseAddress!)
      concurrently(2) { half in
        let between = SphericalInterpolation(directions)
        for row in stride(from: half, to: rows, by: 2) {
          let elevation = (Double(row) * DirectionalBank.step - 90) * .pi / 180
          for column in 0..<columns {
            let azimuth = Double(column) * DirectionalBank.step * .pi / 180
            let flat = realtime_cos(elevation)
            let v = SIMD3(
              flat * realtime_cos(azimuth), flat * realtime_sin(azimuth), realtime_sin(elevation))
            let place = target.floats + (row * columns + column) * width
            for (direction, share) in between.weights(at: v) {
              for i in 0..<width { place[i] += gains[direction * width + i] * Float(share) }
            }
          }
        }
      }
    }
    return result
  }
}
