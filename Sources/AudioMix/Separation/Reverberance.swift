// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

/// Estimates the reverberance of the field from the concentration of the direction histogram. The
/// time average of the concentration is weighted by the height of the highest peak, so that pauses
/// have little effect.
struct Reverberance {
  /// How reverberant the field is now, 0 to 1.
  private(set) var present: Float = 0
  /// The lasting part of `present`: the smaller of `present` and its time average.
  var lasting: Float { min(present, mean) }
  /// The new part of `present`: its excess over its time average.
  var new: Float { max(0, present - mean) }

  /// How uncertain it is that the histogram's peaks, except the highest, are sources, 0 to 1.
  private(set) var crowding: Float = 0

  private var mean: Float = 0
  private var sum: Float = 0
  private var weight: Float = 0
  private let newest: Float
  private let freeField, clearField: (none: Float, full: Float)

  init(hop: Double, settings: SeparationSettings) {
    newest = newestWeight(hop, settings.evidenceTime)
    freeField = settings.freeField
    clearField = settings.clearField
  }

  mutating func reset() { (sum, weight, present, mean, crowding) = (0, 0, 0, 0, 0) }

  mutating func update(_ histogram: borrowing DirectionHistogram) {
    sum += (histogram.peak * histogram.concentration - sum) * newest
    weight += (histogram.peak - weight) * newest
    let known = weight > 1e-20
    present = known ? 1 - ramp(sum / weight, freeField) : 0
    crowding = known ? 1 - ramp(sum / weight, clearField) : 0
    mean += (present - mean) * newest
  }
}
