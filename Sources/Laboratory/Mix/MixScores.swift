// SPDX-License-Identifier: Apache-2.0

private import AudioMix
private import Foundation

/// How well a scene is separated. All values except the CPU time are in dB.
package struct MixScores: Encodable {
  /// The difference between the input and the sum of the separated parts, relative to the input.
  package let sumError: Double
  /// The scale-invariant ratio of the separated speech to its errors, in channel W [J. Le Roux et
  /// al., "SDR - half-baked or well done?", ICASSP 2019].
  package let speechRatio: Double
  /// The same ratio if the input is used as the separated speech.
  package let inputRatio: Double
  /// The level of the speech in the input relative to its level in the separated ambience, in
  /// channel W.
  package let removedSpeech: Double
  /// The separation's CPU time per second of sound, in milliseconds.
  package let cpuMillisecondsPerSecond: Double

  /// Separates a scene and scores the result.
  ///
  /// - Parameter clock: returns the CPU time of the process, in seconds.
  package init(_ scene: MixScene, clock: () -> Double) {
    var separator = SpatialSeparator(sampleRate: MixScene.rate, fieldOfView: 70 * .pi / 180)
    let block = SeparatedBlock(capacity: 1024)
    let (latency, frames) = (separator.latencyFrames, scene.frames)
    var input = scene.field.map { $0 + [Float](repeating: 0, count: latency) }
    var image = [[Float]](repeating: [], count: 4)
    var ambience = image
    var seconds = 0.0
    let planes = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: 4)
    defer { planes.deallocate() }
    let buffers = input.indices.map { c -> UnsafeMutablePointer<Float> in
      let buffer = UnsafeMutablePointer<Float>.allocate(capacity: input[c].count)
      buffer.initialize(from: input[c], count: input[c].count)
      return buffer
    }
    defer { for buffer in buffers { buffer.deallocate() } }
    var done = 0
    while done < frames + latency {
      let count = min(1024, frames + latency - done)
      for c in 0..<4 { (planes + c).initialize(to: buffers[c] + done) }
      let start = clock()
      separator.process(UnsafePointer(planes), frames: count, into: block)
      seconds += clock() - start
      // As in the mixer, the ambience is the delayed field minus the image.
      for c in 0..<4 {
        image[c] += UnsafeBufferPointer(start: block.image[c], count: count)
        ambience[c] += (0..<count).map { block.field[c][$0] - block.image[c][$0] }
      }
      done += count
    }
    image = image.map { Array($0.dropFirst(latency)) }
    ambience = ambience.map { Array($0.dropFirst(latency)) }
    input = input.map { Array($0.prefix(frames)) }
    var (error, energy) = (0.0, 1e-300)
    for c in 0..<4 {
      for i in 0..<frames {
        let x = input[c][i]
        let difference = Double(image[c][i] + ambience[c][i] - x)
        error += difference * difference
        energy += Double(x) * Double(x)
      }
    }
    sumError = Self.decibels(error / energy)
    speechRatio = Self.ratio(image[0], of: scene.speech[0])
    inputRatio = Self.ratio(input[0], of: scene.speech[0])
    removedSpeech =
      Self.share(input[0], of: scene.speech[0]) - Self.share(ambience[0], of: scene.speech[0])
    cpuMillisecondsPerSecond = seconds / Double(frames) * MixScene.rate * 1000
  }

  private static func decibels(_ power: Double) -> Double { 10 * log10(max(power, 1e-20)) }

  private static func dot(_ a: [Float], _ b: [Float]) -> Double {
    zip(a, b).reduce(0) { $0 + Double($1.0) * Double($1.1) }
  }

  private static func ratio(_ signal: [Float], of truth: [Float]) -> Double {
    let (product, energy) = (dot(signal, truth), dot(truth, truth))
    let target = product * product / max(energy, 1e-300)
    return decibels(target / max(dot(signal, signal) - target, 1e-300))
  }

  /// Returns the energy of the part of a signal that is proportional to `truth`, in dB.
  private static func share(_ signal: [Float], of truth: [Float]) -> Double {
    let product = dot(signal, truth)
    return decibels(product * product / max(dot(truth, truth), 1e-300))
  }
}
