// SPDX-License-Identifier: Apache-2.0

/// Which tracker a session uses.
public enum TrackerChoice: Sendable, Equatable {
  /// The first head tracker that appears.
  case automatic
  /// The one `TrackerList.match` finds for the identifier, now or when it appears.
  case id(String)
}

/// What happens to a session's tracker.
public enum TrackerEvent: Sendable, Equatable {
  /// No tracker to be found; the session goes on looking.
  case waiting
  /// A tracker is open and started.
  case connected(TrackerDescription)
  /// The tracker is gone; the session looks for it.
  case lost(TrackerDescription)
  /// The tracker's reference frame jumped; the stage stays where it was.
  case discontinuity
  /// The tracker's button has made where the head looks the front.
  case recentered
  /// A tracker cannot be used; said once for each reason. The session tries on.
  case failed(HeadTrackingError)
}
