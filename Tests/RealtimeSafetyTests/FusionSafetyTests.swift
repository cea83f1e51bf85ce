// SPDX-License-Identifier: Apache-2.0

import HeadTracking
import TestSupport
import Testing

@Suite struct FusionSafetyTests {
  @Test func orientationFilterIsRealtimeSafe() {
    var settings = FusionSettings()
    settings.usesMagnetometer = true
    var filter = OrientationFilter(settings: settings)
    var time: Int64 = 0
    expectRealtimeSafe {
      for index in 0..<2000 {
        // These include a gap, a jump and an invalid sample.
        time += index == 500 ? 300_000_000 : index == 900 ? 3_600_000_000_000 : 5_000_000
        let rate = index == 700 ? Double.nan : 0.3
        filter.update(
          InertialSample(
            time: time, angularVelocity: SIMD3(rate, 0.1, -0.2),
            specificForce: SIMD3(0.1, 0.2, 9.8), magneticField: SIMD3(0, 20, -40)))
        _ = filter.orientation
      }
    }
    #expect(filter.rejected > 0)
  }
}
