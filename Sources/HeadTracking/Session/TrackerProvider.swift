// SPDX-License-Identifier: Apache-2.0

/// A way to find and open trackers, such as HID.
///
/// ## Threading
/// A provider may be used from any thread.
package protocol TrackerProvider: Sendable {
  /// Returns the trackers that are connected now, and known trackers that are not (`isAway`).
  ///
  /// - Parameter detailed: whether to ask the devices for details such as the battery level. That
  ///   can take several seconds.
  func trackers(detailed: Bool) -> [TrackerDescription]

  /// Why this provider cannot find trackers, on one line; nil if no problem is known.
  var problem: String? { get }

  /// Opens and starts a tracker that `trackers` returned.
  ///
  /// - Parameter isCalibrated: whether a calibration exists or is being measured. If so, the
  ///   samples have the same axes in every session. A mounting that the tracker reports, or that
  ///   can be found from its samples, is then not applied.
  /// - Throws: an error from the device or its driver.
  func connect(
    _ tracker: TrackerDescription, isCalibrated: Bool
  ) throws(HeadTrackingError) -> any TrackerConnection
}

extension TrackerProvider {
  package var problem: String? { nil }
}

/// An open tracker of any provider. It belongs to one thread.
package protocol TrackerConnection {
  /// Whether the tracker's own reference frame survives an interruption of a wireless link.
  var keepsReference: Bool { get }
  /// Whether recentring also assumes that the head is upright, because the tracker's mounting is
  /// known only roughly; false by default.
  var levelsOnRecenter: Bool { get }
  /// Whether `restart()` must not be called for a silent tracker, because the connection handles
  /// silence itself; false by default.
  var restartsItself: Bool { get }
  /// Waits for readings and returns those that are available.
  mutating func listen(timeoutMilliseconds: Int) -> TrackerNews
  /// Handles a tracker that has stopped sending: restarts it, or gives up the connection, so that
  /// `listen` returns `gone`.
  mutating func restart()
  /// Stops the tracker's reports. The connection closes when it is released.
  mutating func close()
}

extension TrackerConnection {
  package var levelsOnRecenter: Bool { false }
  package var restartsItself: Bool { false }
}

/// The result of waiting for a tracker's readings.
package enum TrackerNews {
  case gone
  case nothing
  /// Reports arrived: the readings in them, and the number of invalid reports.
  case readings([TrackerReading], rejected: Int)
}

/// One item decoded from a report.
package enum TrackerReading: Sendable, Equatable {
  /// An orientation that the device computed itself.
  case head(HeadSample)
  /// A raw reading, for the orientation filter.
  case inertial(InertialSample)
  /// The recentring button was pressed.
  case recenterButton
  /// The tracker was put on (true) or taken off (false).
  case worn(Bool)
}
