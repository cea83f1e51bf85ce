// SPDX-License-Identifier: Apache-2.0

private import Foundation
private import System

/// A synthetic first-order scene with known speech and ambience.
package struct MixScene {
  package let name: String
  /// The talkers, 4 x frames [ACN, SN3D].
  package let speech: [[Float]]
  /// The noise, 4 x frames [ACN, SN3D].
  package let ambience: [[Float]]
  package var frames: Int { speech[0].count }
  /// The sum of speech and ambience, 4 x frames [ACN, SN3D].
  package var field: [[Float]] { zip(speech, ambience).map { zip($0, $1).map { $0 + $1 } } }

  package static let rate = 48000.0

  /// Returns five scenes with diffuse noise: a fixed talker 0, 5 and 10 dB above the noise, a
  /// moving talker 5 dB above the noise, and two talkers together 5 dB above the noise. The levels
  /// are those of channel W.
  package static func all(seconds: Double) -> [MixScene] {
    let frames = Int(seconds * rate)
    let noise = diffuse(frames, seed: 11)
    let first = voice(frames, pitch: 118, seed: 3)
    let second = voice(frames, pitch: 205, seed: 5)
    let fixed = placed([(first, { _ in 35 })])
    return [
      scene("diffuse, 0 dB", fixed, noise, ratio: 0),
      scene("diffuse, 5 dB", fixed, noise, ratio: 5),
      scene("diffuse, 10 dB", fixed, noise, ratio: 10),
      scene(
        "moving talker, 5 dB", placed([(first, { -55 + 110 * Double($0) / Double(frames) })]),
        noise,
        ratio: 5),
      scene(
        "two talkers, 5 dB", placed([(first, { _ in 40 }), (second, { _ in -50 })]), noise, ratio: 5
      ),
    ]
  }

  private static func scene(
    _ name: String, _ speech: [[Float]], _ noise: [[Float]], ratio: Double
  ) -> MixScene {
    func power(_ plane: [Float]) -> Double { plane.reduce(0) { $0 + Double($1) * Double($1) } }
    let gain = Float((power(speech[0]) / power(noise[0])).squareRoot() * pow(10, -ratio / 20))
    return MixScene(name: name, speech: speech, ambience: noise.map { $0.map { gain * $0 } })
  }

  /// Encodes each sound as a horizontal plane wave. `azimuth` returns the wave's azimuth at a
  /// frame, in degrees.
  private static func placed(_ sounds: [(sound: [Float], azimuth: (Int) -> Double)]) -> [[Float]] {
    var field = [[Float]](
      repeating: [Float](repeating: 0, count: sounds[0].sound.count), count: 4)
    for (sound, azimuth) in sounds {
      for i in sound.indices {
        let angle = azimuth(i) * .pi / 180
        field[0][i] += sound[i]
        field[1][i] += sound[i] * Float(sin(angle))
        field[3][i] += sound[i] * Float(cos(angle))
      }
    }
    return field
  }

  /// Returns a synthetic voice with four syllables per second. Every eighth syllable is silent.
  /// `pitch` is the approximate pitch in Hz.
  private static func voice(_ frames: Int, pitch: Double, seed: UInt64) -> [Float] {
    var random = SeededGenerator(seed)
    var output = [Float](repeating: 0, count: frames)
    let syllable = Int(rate / 4)
    var phase = 0.0
    var memory = [(Double, Double)](repeating: (0, 0), count: 3)
    var formants = [500.0, 1500, 2500]
    var glide = 1.0
    for i in 0..<frames {
      let (number, place) = (i / syllable, Double(i % syllable) / Double(syllable))
      if i % syllable == 0 {
        formants = [
          300 + 500 * random.uniform(), 900 + 1300 * random.uniform(),
          2300 + 800 * random.uniform(),
        ]
        glide = 0.9 + 0.25 * random.uniform()
      }
      let level = number % 8 == 7 ? 0 : pow(sin(.pi * place), 1.5)
      phase += pitch * glide * (1.1 - 0.2 * place) / rate
      var pulse = 0.02 * (random.uniform() - 0.5)
      if phase >= 1 {
        phase -= 1
        pulse += 1
      }
      var sum = 0.0
      for (k, formant) in formants.enumerated() {
        let radius = exp(-.pi * (60 + 40 * Double(k)) / rate)
        let y =
          pulse + 2 * radius * cos(2 * .pi * formant / rate) * memory[k].0
          - radius * radius * memory[k].1
        memory[k] = (y, memory[k].0)
        sum += y / Double(1 + 2 * k)
      }
      output[i] = Float(0.02 * level * sum)
    }
    return output
  }

  /// Returns the sum of 48 independent plane waves of pink noise from all around.
  private static func diffuse(_ frames: Int, seed: UInt64) -> [[Float]] {
    var random = SeededGenerator(seed)
    var field = [[Float]](repeating: [Float](repeating: 0, count: frames), count: 4)
    for wave in 0..<48 {
      // The directions lie on a spiral and are spread roughly evenly over the sphere.
      let z = 1 - (2 * Double(wave) + 1) / 48
      let (ring, angle) = ((1 - z * z).squareRoot(), Double(wave) * 2.399963229728653)
      let gains = [1, Float(ring * sin(angle)), Float(z), Float(ring * cos(angle))]
      // P. Kellet's filter for pink noise.
      var (a, b, c) = (0.0, 0.0, 0.0)
      for i in 0..<frames {
        let white = 2 * random.uniform() - 1
        a = 0.99765 * a + white * 0.0990460
        b = 0.96300 * b + white * 0.2965164
        c = 0.57000 * c + white * 1.0526913
        let pink = Float(0.01 * (a + b + c + white * 0.1848))
        for k in 0..<4 { field[k][i] += gains[k] * pink }
      }
    }
    return field
  }
}
