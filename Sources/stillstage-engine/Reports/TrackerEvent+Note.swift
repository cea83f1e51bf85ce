// SPDX-License-Identifier: Apache-2.0

import HeadTracking

extension TrackerEvent {
  /// The note about an event of the head tracker; nil if the event needs none.
  var note: String? {
    switch self {
    case .waiting, .discontinuity, .recentered: nil
    case .connected(let tracker): "head tracker connected: \(tracker.name)"
    case .newFront: "the direction that you face now becomes the front"
    case .lost(let tracker):
      "the head tracker \(tracker.name) was disconnected; the pose returns to the front"
    case .worn(let isWorn):
      isWorn
        ? "the earphones are being worn"
        : "the earphones are not being worn; the pose is held"
    case .failed(let error): error.description
    }
  }

  /// The note about an event of the device tracker; nil if the event needs none.
  var deviceNote: String? {
    switch self {
    case .waiting, .newFront, .discontinuity, .recentered, .worn: nil
    case .connected(let tracker): "device tracker: \(tracker.name)"
    case .lost(let tracker):
      "the device tracker \(tracker.name) was disconnected; the stage no longer follows the device"
    case .failed(let error): error.description
    }
  }
}
