// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Geometry
import Glibc
import SignalProcessing
import TestSupport

@testable import Binaural

/// Plane waves around the rigid sphere, as a first-order field and as exact ear signals.
struct ParametricScene {
  /// The field: 4 x frames, in ACN order and SN3D scale.
  var field: PlanarSignal
  /// The exact ear signals: 2 x frames, delayed by the common delay of all filters.
  var truth: [[Float]]

  static let waves = try! PlaneWaveResponses(set: DecoderDesignTests.sphere, equalisation: .none)
  static let filters = Result { try DecoderDesignTests.design(1) }
  /// The same head with directions that are mostly absent from the decoder's set.
  static let finer = {
    var head = RigidSphereHead()
    head.ringSpacing = 7
    return head.hrtfSet(sampleRate: 48000).normalized()
  }()
  static let delayFrames = Int((48000 * BinauralFilters.delaySeconds).rounded())

  /// Makes a scene.
  ///
  /// - Parameter sources: indices of directions of `finer`, each with its sound.
  init(_ sources: [(direction: Int, sound: [Float])]) {
    let (set, frames) = (Self.finer, sources[0].sound.count)
    var field = [[Float]](repeating: [Float](repeating: 0, count: frames), count: 4)
    truth = [[Float]](repeating: [Float](repeating: 0, count: frames), count: 2)
    for (direction, sound) in sources {
      let gains = SphericalHarmonics.evaluate(order: 1, set.directions[direction]).map(Float.init)
      for c in 0..<4 { for n in 0..<frames { field[c][n] += gains[c] * sound[n] } }
      for ear in 0..<2 {
        let response = Array(set.impulseResponse(direction: direction, ear: ear))
        for n in 0..<frames where sound[n] != 0 {
          let first = n + Self.delayFrames
          for k in 0..<max(0, min(set.taps, frames - first)) {
            truth[ear][first + k] += sound[n] * response[k]
          }
        }
      }
    }
    self.field = PlanarSignal(field)
  }

  /// Returns the output of the parametric decoder, with its latency removed.
  func decoded(
    sizes: [Int] = [256], head: (Int) -> Quaternion = { _ in .identity }
  ) throws -> [[Float]] {
    let decoder = ParametricDecoder(filters: try Self.filters.get(), waves: Self.waves)
    let latency = decoder.latencyFrames
    let grid = PoseGrid(longestCall: field.frames + latency)
    let input = PlanarSignal(channelCount: 4, frames: field.frames + latency) {
      $1 < field.frames ? field[$0][$1] : 0
    }
    let ears = PlanarSignal(channelCount: 2, frames: input.frames)
    var done = 0
    input.forEachPiece(of: sizes) { piece, count in
      let poses = grid.take(grid.points(forNext: count).map(head), forNext: count)
      decoder.process(
        input: piece, frames: count, poses: poses, left: ears[0] + done, right: ears[1] + done)
      done += count
    }
    return ears.arrays.map { Array($0[latency...]) }
  }

  /// Returns the output of the linear decoder.
  func linear() throws -> [[Float]] {
    let decoder = BinauralDecoder(filters: try Self.filters.get(), partition: 256)
    let ears = PlanarSignal(channelCount: 2, frames: field.frames)
    let grid = PoseGrid(longestCall: field.frames)
    let poses = grid.points(forNext: field.frames).map { _ in Quaternion.identity }
    decoder.process(
      input: UnsafePointer(field.channels), frames: field.frames,
      poses: grid.take(poses, forNext: field.frames), left: ears[0], right: ears[1])
    return ears.arrays
  }
}

/// The energies of both ears and their cross product in third-octave bands of the entire signal.
struct EarBands {
  var energies: [[Double]] = [[], []]
  /// Left times the conjugate of right.
  var products: [Complex] = []

  static let centres = (0..<18).map { 200 * pow(2, Double($0) / 3) }

  init(_ ears: [[Float]]) {
    var size = 1024
    while size < ears[0].count { size *= 2 }
    let fft = RealFFT(size: size, batch: 2)
    let time = AlignedFloats(count: size * 2)
    let re = AlignedFloats(count: fft.bins * 2)
    let im = AlignedFloats(count: fft.bins * 2)
    for ear in 0..<2 { for (n, x) in ears[ear].enumerated() { time.pointer[2 * n + ear] = x } }
    fft.forward(time.pointer, real: re.pointer, imaginary: im.pointer)
    for centre in Self.centres {
      let width = 48000 / Double(size)
      var (left, right, product) = (0.0, 0.0, Complex(0))
      for k in Int(centre * 0.89 / width)...Int(centre * 1.12 / width) {
        let l = Complex(Double(re.pointer[2 * k]), Double(im.pointer[2 * k]))
        let r = Complex(Double(re.pointer[2 * k + 1]), Double(im.pointer[2 * k + 1]))
        left += l.squaredMagnitude
        right += r.squaredMagnitude
        product += l * r.conjugate
      }
      energies[0].append(left)
      energies[1].append(right)
      products.append(product)
    }
  }

  /// Returns the level of an ear in a band relative to another signal, in dB.
  func level(_ ear: Int, _ band: Int, over other: EarBands) -> Double {
    10 * log10(energies[ear][band] / other.energies[ear][band])
  }

  /// Returns the interaural coherence in a band, 0 to 1.
  func coherence(_ band: Int) -> Double {
    (products[band].squaredMagnitude / (energies[0][band] * energies[1][band])).squareRoot()
  }
}

/// Returns the energy of the difference relative to that of the truth, in dB.
func residualDecibels(_ a: [[Float]], _ truth: [[Float]]) -> Double {
  var (error, energy) = (0.0, 0.0)
  for (a, b) in zip(a.joined(), truth.joined()) {
    error += (Double(a) - Double(b)) * (Double(a) - Double(b))
    energy += Double(b) * Double(b)
  }
  return 10 * log10(error / energy)
}

func noise(_ frames: Int, amplitude: Float = 0.5) -> [Float] {
  (0..<frames).map { _ in Float.random(in: -amplitude...amplitude) }
}
