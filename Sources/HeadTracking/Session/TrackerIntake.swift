// SPDX-License-Identifier: Apache-2.0

import Geometry

/// Applies the calibration to a tracker's readings, computes orientations from raw readings, and
/// passes the results to the sink.
struct TrackerIntake {
  let sink: any HeadSampleSink
  let record: (@Sendable (TrackerMeasurement) -> Void)?
  let tell: @Sendable (TrackerEvent) -> Void

  private let calibration: TrackerCalibration?
  private var filter: OrientationFilter
  private var pushed = Int64.min

  /// Smallest interval at which samples from the filter are passed to the sink, in nanoseconds.
  private static let poseInterval: Int64 = 3_500_000

  init(
    sink: any HeadSampleSink, fusion: FusionSettings, calibration: TrackerCalibration? = nil,
    record: (@Sendable (TrackerMeasurement) -> Void)?,
    tell: @escaping @Sendable (TrackerEvent) -> Void
  ) {
    self.calibration = calibration
    filter = OrientationFilter(settings: fusion)
    if let bias = calibration?.filterBias { filter.seedBias(bias) }
    self.sink = sink
    self.record = record
    self.tell = tell
  }

  mutating func take(_ reading: TrackerReading) {
    switch reading {
    case .head(let sample):
      record?(TrackerMeasurement(head: sample))
      push(calibration?.applied(to: sample) ?? sample)
    case .inertial(let sample):
      guard sample.isFinite else { return sink.reject() }
      filter.update(calibration?.applied(to: sample) ?? sample)
      let head = HeadSample(
        time: sample.time, headToWorld: filter.orientation,
        angularVelocity: filter.angularVelocity)
      record?(TrackerMeasurement(head: head, inertial: sample))
      guard pushed == .min || head.time - pushed >= Self.poseInterval else { return }
      pushed = head.time
      push(head)
    case .recenterButton:
      sink.recenter()
      tell(.recentered)
    case .worn(let isWorn): tell(.worn(isWorn))
    }
  }

  private func push(_ sample: HeadSample) {
    if sink.push(sample) { tell(.discontinuity) }
  }
}
