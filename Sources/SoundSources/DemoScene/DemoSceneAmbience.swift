// SPDX-License-Identifier: Apache-2.0

internal import Geometry
internal import Rendering
internal import SignalProcessing

/// Uncorrelated noise from six directions.
///
/// The noise of one direction is called a stream. It is a sum of noises whose bandwidth doubles
/// from one to the next, and its level changes slowly. Each sample depends only on its time, so a
/// seek needs no preparation.
final class DemoAmbience {
  /// The gains that encode the streams as third-order plane waves: streams x 16 channels.
  let gains: [[Float]]

  private let sampleRate: Double
  private let chunkFrames: Int
  private let streams: AlignedFloats
  private let weights: AlignedFloats
  private let swell: AlignedFloats
  private let octaves: [Octave]

  private struct Octave {
    let number: Int
    /// The number of random values of the noise per second.
    let rate: Double
    let level: Float
  }

  /// Consecutive frames of a chunk that lie between the same two random values of a noise. `end` is
  /// the frame of the chunk that follows the last of them.
  private struct Cell {
    let point: Int
    var end: Int
  }

  private static let directions = [
    SIMD3(1.0, 0, 0), SIMD3(-1.0, 0, 0), SIMD3(0, 1.0, 0), SIMD3(0, -1.0, 0), SIMD3(0, 0, 1.0),
    SIMD3(0, 0, -1.0),
  ]
  private static let level: Float = 0.008
  private static let swell = Octave(number: 0, rate: 0.5, level: 0.6)

  init(sampleRate: Double, chunkFrames: Int) {
    self.sampleRate = sampleRate
    self.chunkFrames = chunkFrames
    gains = Self.directions.map { DemoTrack.gains(Direction($0)) }
    streams = AlignedFloats(count: Self.directions.count * chunkFrames)
    weights = AlignedFloats(count: 4 * chunkFrames)
    swell = AlignedFloats(count: chunkFrames)
    octaves = (1...6).map { number in
      // The spectrum falls 1.5 dB per octave more steeply than that of pink noise.
      Octave(
        number: number, rate: 125 * Double(1 << number),
        level: Self.level * linearGain(decibels: -1.5 * Double(number)))
    }.filter { $0.rate < sampleRate }
  }

  /// Returns the samples that `render` last generated for a stream.
  func plane(_ stream: Int) -> UnsafeMutablePointer<Float> {
    streams.pointer + stream * chunkFrames
  }

  /// Generates `count` frames of all streams, from frame `start` of the scene on.
  func render(at start: Int, _ count: Int) {
    streams.clear()
    for octave in octaves {
      let cells = prepare(octave, start, count)
      for stream in gains.indices { add(octave, stream, cells, to: plane(stream)) }
    }
    let cells = prepare(Self.swell, start, count)
    for stream in gains.indices {
      let (sound, gain) = (plane(stream), swell.pointer)
      for i in 0..<count { gain[i] = 1 }
      add(Self.swell, stream, cells, to: gain)
      for i in 0..<count { sound[i] *= gain[i] }
    }
  }

  /// Stores the interpolation weights of `count` frames, multiplied by the level, and returns the
  /// cells of the chunk.
  private func prepare(_ octave: Octave, _ start: Int, _ count: Int) -> [Cell] {
    let (step, level) = (octave.rate / sampleRate, octave.level)
    let (w0, w1) = (weights.pointer, weights.pointer + chunkFrames)
    let (w2, w3) = (w1 + chunkFrames, w1 + 2 * chunkFrames)
    var cells: [Cell] = []
    var cell = Cell(point: Int(Double(start) * step), end: 0)
    var i = 0
    while i < count {
      let x = Double(start + i) * step
      let point = Int(x)
      if point != cell.point {
        cells.append(cell)
        cell = Cell(point: point, end: i)
      }
      cell.end = i + 1
      let four = DemoNoise.weights(Float(x - Double(point)))
      (w0[i], w1[i]) = (level * four.0, level * four.1)
      (w2[i], w3[i]) = (level * four.2, level * four.3)
      i += 1
    }
    cells.append(cell)
    return cells
  }

  private func add(
    _ octave: Octave, _ stream: Int, _ cells: [Cell], to sum: UnsafeMutablePointer<Float>
  ) {
    let noise = DemoNoise(seed: UInt64(stream * 64 + octave.number) << 32)
    let (w0, w1) = (weights.pointer, weights.pointer + chunkFrames)
    let (w2, w3) = (w1 + chunkFrames, w1 + 2 * chunkFrames)
    var i = 0
    for cell in cells {
      let (a, b) = (noise.value(cell.point), noise.value(cell.point + 1))
      let (c, d) = (noise.value(cell.point + 2), noise.value(cell.point + 3))
      while i < cell.end {
        sum[i] += (w0[i] * a + w1[i] * b) + (w2[i] * c + w3[i] * d)
        i += 1
      }
    }
  }
}
