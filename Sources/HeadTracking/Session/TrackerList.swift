// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A list of the connected trackers, and of known trackers that are not connected.
public struct TrackerList: Sendable {
  public private(set) var trackers: [TrackerDescription]
  private var providers: [any TrackerProvider] = []

  /// Lists the trackers. This can take a second or more if a device does not answer.
  ///
  /// - Parameters:
  ///   - settings: the providers and their settings.
  ///   - detailed: whether to ask the devices for details such as the battery level. That can take
  ///     several seconds.
  public static func current(
    _ settings: TrackerSettings = TrackerSettings(), detailed: Bool = false
  ) -> TrackerList {
    let found = settings.allProviders.map { ($0, $0.trackers(detailed: detailed)) }
    var list = TrackerList(trackers: found.flatMap(\.1))
    list.providers = found.flatMap { provider, trackers in trackers.map { _ in provider } }
    return list
  }

  init(trackers: [TrackerDescription]) {
    self.trackers = trackers
    for index in trackers.indices {
      let serial = trackers[index].serial
      let isUsable = !serial.isEmpty && !serial.contains { $0.isWhitespace }
      let isUnique = trackers.filter { $0.serial == serial }.count == 1
      self.trackers[index].id = isUsable && isUnique ? serial : trackers[index].path
    }
  }

  /// Returns the tracker that an identifier matches. The identifier is compared with the paths,
  /// then with the serial numbers, then with `vendor:product`, then with parts of the names.
  ///
  /// - Throws: `unknownTracker` if no tracker matches, or `ambiguousTracker` if several match.
  public func match(_ id: String) throws(HeadTrackingError) -> TrackerDescription {
    let wanted = id.lowercased()
    let tests: [(TrackerDescription) -> Bool] = [
      { $0.path == id }, { $0.id == id || $0.serial.lowercased() == wanted },
      { $0.vendorAndProduct == wanted }, { $0.name.lowercased().contains(wanted) },
    ]
    for test in tests where !wanted.isEmpty {
      let found = trackers.filter(test)
      if found.count == 1 { return found[0] }
      if found.count > 1 { throw .ambiguousTracker(id, matches: found.map(Self.label)) }
    }
    throw .unknownTracker(id, available: trackers.map(Self.label))
  }

  private static func label(_ tracker: TrackerDescription) -> String {
    "\(tracker.id) (\(tracker.name))"
  }

  func connect(
    _ tracker: TrackerDescription, isCalibrated: Bool
  ) throws(HeadTrackingError) -> any TrackerConnection {
    guard let index = trackers.firstIndex(of: tracker), providers.indices.contains(index) else {
      throw .cannotOpen(path: tracker.path, reason: errorText(ENODEV))
    }
    return try providers[index].connect(tracker, isCalibrated: isCalibrated)
  }
}
