// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing

/// Computes the tuning of a recording from the long-term spectra of its speech and ambience.
///
/// ## Threading
/// Use a generator from one thread at a time.
public final class MixTuningGenerator: @unchecked Sendable {
  private var separator: SpatialSeparator
  private let block: SeparatedBlock
  private var speech: BandEnergies
  private var ambience: BandEnergies
  private let part: UnsafeMutablePointer<UnsafeMutablePointer<Float>>

  private static let blockFrames = 1024
  /// The target level of speech: the RMS level in dB relative to full scale.
  static let speechLevel = -23.0
  /// The smallest intended level of speech relative to the ambience, in dB.
  static let distance = 6.0
  /// The usual long-term levels of speech from 100 to 350 Hz (`low`) and from 2 to 6 kHz (`high`),
  /// in dB relative to the level from 350 to 2000 Hz. [D. Byrne et al., "An international
  /// comparison of long-term average speech spectra", J. Acoust. Soc. Am. 96(4), 1994]
  private static let usual = (low: -1.4, high: -13.4)

  /// Prepares the generator.
  ///
  /// - Parameter sampleRate: the sample rate in Hz, at least 1000.
  public init(sampleRate: Double) {
    // The field of view affects only the framed image, which is not used here.
    separator = SpatialSeparator(sampleRate: sampleRate, fieldOfView: 0)
    block = SeparatedBlock(capacity: Self.blockFrames)
    speech = BandEnergies(sampleRate: sampleRate)
    ambience = BandEnergies(sampleRate: sampleRate)
    part = .allocate(capacity: 4)
  }

  deinit { part.deallocate() }

  /// Adds the next frames of the recording.
  ///
  /// - Parameters:
  ///   - field: the first four channels of a soundfield, in ACN order and SN3D scale.
  ///   - frames: the number of frames.
  public func append(_ field: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int) {
    var done = 0
    while done < frames {
      let count = min(Self.blockFrames, frames - done)
      for c in 0..<4 { (part + c).initialize(to: field[c] + done) }
      separator.process(UnsafePointer(part), frames: count, into: block)
      for i in 0..<count {
        let (whole, voice) = (block.field[0][i], block.image[0][i])
        let rest = abs(whole) <= 1e4 ? whole - voice : 0
        speech.add(Double(voice))
        ambience.add(Double(rest))
      }
      done += count
    }
  }

  /// The tuning for all added frames. It is neutral if they contain less than a second of speech.
  public var tuning: MixTuning {
    let (count, voice) = speech.active
    guard count >= 10 else { return MixTuning() }
    let level = Self.decibels(voice.sum())
    var tuning = MixTuning()
    tuning.speech.gainDecibels = Self.rounded(
      Self.limited(Self.speechLevel - level, -6...9))
    tuning.speech.equaliser = Self.speechEqualiser(voice)
    let rest = ambience.all.mean
    let excess = Self.decibels(rest.sum()) - (level + tuning.speech.gainDecibels - Self.distance)
    tuning.ambience.gainDecibels = Self.rounded(Self.limited(-excess, -6...0))
    // This much bass indicates wind or handling noise.
    if rest.x > 4 * (rest.y + rest.z + rest.w) {
      tuning.ambience.equaliser = [Self.highPass(100)]
    }
    return tuning
  }

  private static func speechEqualiser(_ voice: SIMD4<Double>) -> [ParametricFilter] {
    var filters: [ParametricFilter] = []
    if voice.x > 0.01 * voice.z { filters.append(highPass(80)) }
    // Only half of the deviation from the usual levels is corrected, because voices differ.
    let low = limited(0.5 * (usual.low - decibels(voice.y / voice.z)), -4...4)
    let high = limited(0.5 * (usual.high - decibels(voice.w / voice.z)), -4...4)
    if abs(low) >= 0.5 {
      filters.append(
        ParametricFilter(.peak, frequency: 200, gain: rounded(low), quality: 0.7))
    }
    if abs(high) >= 0.5 {
      filters.append(
        ParametricFilter(.highShelf, frequency: 2500, gain: rounded(high), quality: 0.7))
    }
    return filters
  }

  private static func highPass(_ frequency: Double) -> ParametricFilter {
    ParametricFilter(.highPass, frequency: frequency, quality: 0.707)
  }

  private static func decibels(_ power: Double) -> Double { BandEnergies.decibels(power) }

  private static func limited(_ value: Double, _ range: ClosedRange<Double>) -> Double {
    value.isNaN ? 0 : max(range.lowerBound, min(range.upperBound, value))
  }

  private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
