// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Playback

@Suite struct SkipTests {
  @Test(arguments: [
    (10.0, 60.0, 300.0 as Double?, 70.0 as Double?, false), (239, 60, 300, 299, false),
    (240, 60, 300, 299, true), (299.5, 10, 300, nil, true), (299.5, -10, 300, 289.5, false),
    (300.1, 60, 300, nil, true), (5, -10, 300, -5, false), (240, 60, nil, 300, false),
    (0, 10, 0.5, nil, true),
  ])
  func aSkipForwardStopsBeforeTheEnd(
    position: Double, step: Double, duration: Double?, target: Double?, isShortened: Bool
  ) {
    let skip = Skip(from: position, by: step, duration: duration)
    #expect(skip.target == target)
    #expect(skip.isShortened == isShortened)
  }
}
