// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A stereo mix with known parts, 2 x frames each.
package struct UpmixMix {
  package let name: String
  /// The centre: identical in both channels.
  package let centre: [[Double]]
  /// Sounds panned to the sides.
  package let panned: [[Double]]
  /// The ambience: nearly uncorrelated between the two channels.
  package let ambience: [[Double]]

  package var frames: Int { centre[0].count }
  /// The sum of all parts.
  package var sum: [[Float]] {
    (0..<2).map { (c: Int) -> [Float] in
      let (a, b, d) = (centre[c], panned[c], ambience[c])
      return (0..<frames).map { (i: Int) -> Float in Float(a[i] + b[i] + d[i]) }
    }
  }

  /// Returns three mixes of a given duration.
  package static func all(seconds: Double) -> [UpmixMix] {
    let frames = Int(seconds * UpmixInstruments.rate)
    return [plain(frames), dense(frames), sparse(frames)]
  }

  /// A voice, plucked notes on either side, and noise that swells and fades.
  private static func plain(_ frames: Int) -> UpmixMix {
    var make = UpmixInstruments(frames: frames, seed: 7)
    let voice = make.voice(pitch: 120, pause: 0.25)
    let left = make.plucks(every: 0.7, from: 0.1, pitches: 250...450, decay: 6, partials: 4)
    let right = make.plucks(every: 0.9, from: 0.35, pitches: 400...700, decay: 6, partials: 4)
    let around = (0..<2).map { _ in make.darkNoise(from: 200, to: 18_000, bright: 1) }
    let turn = 2 * Double.pi * 0.3 / UpmixInstruments.rate
    let swell = (0..<frames).map { (i: Int) -> Double in 1 + 0.5 * sin(turn * Double(i)) }
    return UpmixMix(
      name: "plain", centre: scaled([voice, voice], to: 0.05),
      panned: scaled(sum([pan(left, 0.15), pan(right, 0.85)]), to: 0.05),
      ambience: scaled(around.map { zip($0, swell).map { $0 * $1 } }, to: 0.04))
  }

  /// A voice and a drum in the centre, five sounds at the sides, and reverberation with noise.
  private static func dense(_ frames: Int) -> UpmixMix {
    var make = UpmixInstruments(frames: frames, seed: 11)
    let voice = make.voice(pitch: 190, pause: 0.25)
    let drum = make.beats(every: 0.5, from: 0.2, above: nil)
    let centre = make.normalized(zip(voice, drum).map { $0 + 0.4 * $1 })
    let second = make.voice(pitch: 240, pause: 0.6)
    let hat = make.beats(every: 0.25, from: 0, above: 6000)
    let low = make.plucks(every: 0.25, from: 0, pitches: 200...700, decay: 7, partials: 12)
    let high = make.plucks(every: 0.25, from: 0.125, pitches: 300...1000, decay: 8, partials: 10)
    let keys = make.plucks(every: 0.17, from: 0, pitches: 250...600, decay: 4, partials: 6)
    let panned = sum([
      pan(low, 0.02), pan(high, 0.98), pan(quieter(second, 0.7), 0.1), pan(quieter(keys, 0.8), 0.9),
      pan(quieter(hat, 0.35), 0.05),
    ])
    let dry = (0..<frames).map { (i: Int) -> Double in
      let voices = 0.25 * voice[i] + 0.3 * second[i]
      return voices + 1.2 * hat[i]
    }
    let hall = scaled(make.reverb(dry, seconds: 1.2, corner: 6000), to: 0.6)
    let air = (0..<2).map { _ in quieter(make.darkNoise(from: 600, to: 18_000, bright: 1), 0.9) }
    return UpmixMix(
      name: "dense", centre: scaled([centre, centre], to: 0.06), panned: scaled(panned, to: 0.05),
      ambience: scaled(sum([hall, air]), to: 0.036))
  }

  /// A voice with long pauses, a bowed tone that moves to and fro on the left, and reverberation
  /// with noise.
  private static func sparse(_ frames: Int) -> UpmixMix {
    var make = UpmixInstruments(frames: frames, seed: 5)
    let voice = make.voice(pitch: 105, pause: 0.9)
    let tone = make.bow(around: 196)
    var panned = [[Double]](repeating: .init(repeating: 0, count: frames), count: 2)
    for i in 0..<frames {
      let place = 0.1 - 0.1 * cos(2 * .pi * Double(i) / UpmixInstruments.rate / 8)
      panned[0][i] = tone[i] * cos(place * .pi / 2)
      panned[1][i] = tone[i] * sin(place * .pi / 2)
    }
    let hall = scaled(make.reverb(voice, seconds: 1.6, corner: 3500), to: 0.3)
    let murmur = (0..<2).map { _ in make.darkNoise(from: 100, to: 12_000, bright: 1) }
    return UpmixMix(
      name: "sparse", centre: scaled([voice, voice], to: 0.05), panned: scaled(panned, to: 0.04),
      ambience: scaled(sum([hall, murmur]), to: 0.03))
  }

  private static func quieter(_ x: [Double], _ gain: Double) -> [Double] { x.map { gain * $0 } }

  /// Pans a sound at constant power; `place` is from 0 (left) to 1 (right).
  private static func pan(_ x: [Double], _ place: Double) -> [[Double]] {
    let (left, right) = (cos(place * .pi / 2), sin(place * .pi / 2))
    return [x.map { left * $0 }, x.map { right * $0 }]
  }

  private static func sum(_ pairs: [[[Double]]]) -> [[Double]] {
    var sum = pairs[0]
    for pair in pairs.dropFirst() {
      for c in 0..<2 {
        for i in sum[c].indices { sum[c][i] += pair[c][i] }
      }
    }
    return sum
  }

  /// Scales both channels by one gain, so that their joint root mean square is `level`.
  private static func scaled(_ pair: [[Double]], to level: Double) -> [[Double]] {
    let energy = pair.joined().reduce(0) { $0 + $1 * $1 }
    let gain = level / max(1e-12, (energy / Double(2 * pair[0].count)).squareRoot())
    return pair.map { $0.map { gain * $0 } }
  }
}
