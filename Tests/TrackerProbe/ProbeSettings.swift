// SPDX-License-Identifier: Apache-2.0

import HeadTracking

extension Probe {
  /// Two virtual trackers: one with its own fusion, defined by HID usages, and a raw one, defined
  /// by bytes.
  static let settings = TrackerSettings(profiles: [
    TrackerProfile(
      name: "angles", vendorID: 0x1209, productID: 0x0001, reportID: 3,
      signals: [
        .yaw: usage(0x32, degreesAStep: 0.35), .pitch: usage(0x31, degreesAStep: -0.35),
        .roll: usage(0x30, degreesAStep: 0.35),
      ]),
    TrackerProfile(
      name: "raw", vendorID: 0x1209, productID: 0x0002, reportID: 7,
      axes: .rightFrontUp,
      signals: [
        .clock: bytes(1, .u32), .rateX: bytes(5, .i16, 0.001), .rateY: bytes(7, .i16, 0.001),
        .rateZ: bytes(9, .i16, 0.001), .forceX: bytes(11, .f32), .forceY: bytes(15, .f32),
        .forceZ: bytes(19, .f32), .recenterButton: bytes(23, .u8),
      ], tickSeconds: 1e-4, clockBits: 32, startFeatures: [[9, 1]], startOutputs: [[8, 2]]),
  ])

  private static func usage(_ number: UInt16, degreesAStep: Double) -> TrackerProfile.Number {
    TrackerProfile.Number(
      .usage(HIDUsage(page: 1, usage: number), element: 0), scale: degreesAStep * .pi / 180)
  }

  private static func bytes(
    _ at: Int, _ type: TrackerProfile.NumberType, _ scale: Double = 1
  ) -> TrackerProfile.Number {
    TrackerProfile.Number(.byte(at, type), scale: scale)
  }
}
