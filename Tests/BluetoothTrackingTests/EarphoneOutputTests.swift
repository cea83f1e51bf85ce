// SPDX-License-Identifier: Apache-2.0

import HeadTracking
import Testing

@testable import BluetoothTracking

@Suite struct EarphoneOutputTests {
  @Test func outputsAddUpInOrder() {
    let sum =
      EarphoneOutput(packets: [[1]], readings: [.worn(true)], rejectedCount: 1)
      + EarphoneOutput(packets: [[2]], readings: [.worn(false)], needsReopening: true)
    #expect(
      sum
        == EarphoneOutput(
          packets: [[1], [2]], readings: [.worn(true), .worn(false)], rejectedCount: 1,
          needsReopening: true))
  }
}
