// SPDX-License-Identifier: Apache-2.0

internal import CRealtime
internal import SignalProcessing

/// Follows up to three sources in the direction histogram.
struct SourceTracker {
  static let slots = 3

  struct Source {
    /// A unit vector: x, y, z, 0.
    var direction = SIMD4<Float>(1, 0, 0, 0)
    var strength: Float = 0
    /// The sum of the weights in the average `strength`, at most 1. It is lower while a source is
    /// new.
    var certainty: Float = 1
    var meanStrength: Float { isUsed ? strength / certainty : 0 }
    var isUsed = false
    var isActive = false
    /// A number that changes when another source takes the slot.
    var identity = 0
  }

  typealias Sources = InlineArray<3, Source>

  private(set) var sources = Sources(repeating: Source())
  private var identities = 0
  private let keep: Float
  private let apart: Float
  private let near: Float
  private let relativePeak: Float
  private let activeStrength: Float
  private let crowdedPeak, crowdedStrength: Float

  init(hop: Double, settings: SeparationSettings) {
    keep = Float(realtime_exp(-hop / settings.strengthTime))
    apart = Float(realtime_cos(settings.separation))
    near = Float(realtime_cos(settings.association))
    relativePeak = settings.relativePeak
    activeStrength = settings.activeStrength
    crowdedPeak = settings.crowdedPeak
    crowdedStrength = settings.crowdedStrength
  }

  mutating func reset() {
    sources = Sources(repeating: Source())
  }

  /// Assigns the peaks of the histogram to sources, merges sources that are too close to each
  /// other, and decides which sources are active. Sets the histogram's `heights` around the peaks
  /// to 0.
  mutating func update(_ histogram: borrowing DirectionHistogram, crowding: Float) {
    var isMatched = InlineArray<3, Bool>(repeating: false)
    for k in 0..<Self.slots {
      sources[k].strength *= keep
      sources[k].certainty += (1 - sources[k].certainty) * (1 - keep)
    }
    let least = relativePeak + (crowdedPeak - relativePeak) * crowding
    var top: Float = 0
    for peak in 0..<Self.slots {
      var (cell, height): (Int, Float) = (0, 0)
      for i in 0..<DirectionHistogram.cells where histogram.heights.pointer[i] > height {
        (cell, height) = (i, histogram.heights.pointer[i])
      }
      if peak == 0 { top = height }
      guard height > 0, height >= least * top else { break }
      var direction = histogram.smooth[cell]
      direction.w = 0
      let length = realtime_sqrtf((direction * direction).sum())
      direction = length > 0 ? direction / length : histogram.centres[cell]
      assign(direction, height: height * (1 - keep), &isMatched)
      for i in 0..<DirectionHistogram.cells
      where (histogram.centres[i] * direction).sum() > apart {
        histogram.heights.pointer[i] = 0
      }
    }
    merge()
    var strongest: Float = 0
    for k in 0..<Self.slots { strongest = max(strongest, sources[k].meanStrength) }
    let weakest =
      strongest * (activeStrength + (crowdedStrength - activeStrength) * crowding)
    for k in 0..<Self.slots {
      sources[k].isActive =
        sources[k].isUsed && strongest > 1e-30 && sources[k].meanStrength >= weakest
    }
  }

  private mutating func assign(
    _ direction: SIMD4<Float>, height: Float, _ isMatched: inout InlineArray<3, Bool>
  ) {
    var (best, closeness): (Int, Float) = (-1, near)
    for k in 0..<Self.slots where sources[k].isUsed {
      let cosine = (sources[k].direction * direction).sum()
      if cosine > closeness { (best, closeness) = (k, cosine) }
    }
    if best >= 0 {
      guard !isMatched[best] else { return }
      sources[best].direction = direction
      sources[best].strength += height
      isMatched[best] = true
      return
    }
    var (free, least): (Int, Float) = (-1, 3 * height)
    for k in 0..<Self.slots where !isMatched[k] {
      let strength = sources[k].isUsed ? sources[k].strength : -1
      if strength < least { (free, least) = (k, strength) }
    }
    guard free >= 0 else { return }
    identities += 1
    sources[free] = Source(
      direction: direction, strength: height, certainty: 1 - keep, isUsed: true,
      identity: identities)
    isMatched[free] = true
  }

  /// Merges the weaker source of each pair into the stronger one if the angle between them is less
  /// than `SeparationSettings.separation`.
  private mutating func merge() {
    for a in 0..<Self.slots {
      for b in 0..<Self.slots where a != b && sources[a].isUsed && sources[b].isUsed {
        guard (sources[a].direction * sources[b].direction).sum() > apart else { continue }
        let (x, y) = (sources[a].strength, sources[b].strength)
        guard x > y || (x == y && a < b) else { continue }
        sources[a].strength += y
        sources[b].isUsed = false
        sources[b].strength = 0
      }
    }
  }
}
