// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
package import HeadTracking
import Synchronization
import System

/// Provides serial trackers: USB ports whose vendor and product match a profile, and the port that
/// the listener names. No other port is ever opened.
package final class SerialTrackers: TrackerProvider {
  /// A port that the listener names.
  package struct NamedPort: Sendable, Equatable {
    /// The device file, or a link to it.
    package var path: String
    package var profile: TrackerProfile

    package init(path: String, profile: TrackerProfile) {
      (self.path, self.profile) = (path, profile)
    }
  }

  /// The prefix of a named port's ID, which has the form `serial:PATH:PROFILE` or
  /// `serial:PATH:BAUD`.
  package static let prefix = "serial:"

  private let profiles: [TrackerProfile]
  private let axes: AxisMap?
  private let capture: FrameCapture?
  private let named: (id: String, port: NamedPort)?
  private let place: SerialNode.Place

  /// - Parameters:
  ///   - settings: the profiles, the mounting and the capture.
  ///   - named: the port that the listener names, with its ID; nil for none.
  package convenience init(
    _ settings: TrackerSettings, named: (id: String, port: NamedPort)? = nil
  ) {
    self.init(settings, named: named, in: SerialNode.Place())
  }

  init(
    _ settings: TrackerSettings, named: (id: String, port: NamedPort)?, in place: SerialNode.Place
  ) {
    (axes, capture) = (settings.axes, settings.capture)
    profiles = settings.profiles.filter { profile in
      if case .serial = profile.link {
        profile.vendorID != 0 && profile.productID != nil
      } else {
        false
      }
    }
    (self.named, self.place) = (named, place)
  }

  /// Splits a named port's ID at the last colon into the path and the profile or baud rate. Returns
  /// nil if the prefix, the path or the text after the path is missing.
  package static func parts(_ text: String) -> (path: String, profile: String)? {
    guard text.hasPrefix(prefix), let colon = text.lastIndex(of: ":") else { return nil }
    let start = text.index(text.startIndex, offsetBy: prefix.count)
    guard colon > start else { return nil }
    let profile = text[text.index(after: colon)...]
    return profile.isEmpty ? nil : (String(text[start..<colon]), String(profile))
  }

  // MARK: List

  package func trackers(detailed: Bool) -> [TrackerDescription] {
    // Without a profile, no port can match, so the ports need not be listed.
    let nodes = profiles.isEmpty ? [] : SerialNode.all(in: place)
    var found = nodes.compactMap { node in
      profile(of: node).map { Self.description(node.path, node, $0) }
    }
    if let (id, port) = named, access(port.path, F_OK) == 0 {
      let node = SerialNode.at(port.path, in: place)
      // If a profile also names the port, list it only once, under the listener's ID.
      found.removeAll { $0.path == node?.path }
      var tracker = Self.description(port.path, node, port.profile)
      tracker.path = id
      found.append(tracker)
    }
    return found
  }

  private func profile(of node: SerialNode) -> TrackerProfile? {
    profiles.first { $0.vendorID == node.vendorID && $0.productID == node.productID }
  }

  private static func description(
    _ path: String, _ node: SerialNode?, _ profile: TrackerProfile
  ) -> TrackerDescription {
    let name = node?.product ?? ""
    var tracker = TrackerDescription(
      path: path, vendorID: node?.vendorID ?? 0, productID: node?.productID ?? 0,
      serial: node?.serial ?? "", manufacturer: node?.manufacturer ?? "",
      product: name.isEmpty ? profile.name : name, bus: node == nil ? .serial : .usb,
      protocolDescription: "profile \(profile.name)", kind: profile.kind, access: .ready, id: path)
    if access(path, R_OK | W_OK) != 0 {
      tracker.access =
        errno == EACCES ? .permissionDenied : .failed(SystemError.latest.description)
    }
    tracker.isSerialPort = true
    tracker.evidence = profile.evidence
    tracker.levelsItself = profile.hasOrientation
    return tracker
  }

  // MARK: Connect

  package func connect(
    _ tracker: TrackerDescription, isCalibrated: Bool
  ) throws(HeadTrackingError) -> any TrackerConnection {
    let (path, profile) = try target(tracker)
    guard case .serial(let settings) = profile.link else {
      throw .notAHeadTracker(path: path, reason: "its profile is not for a serial port")
    }
    do throws(SystemError) {
      return ProfileConnection(
        try SerialPort(path, settings), profile, axes: axes, capture: capture)
    } catch {
      throw .cannotOpen(path: path, reason: Self.reason(error))
    }
  }

  private func target(
    _ tracker: TrackerDescription
  ) throws(HeadTrackingError) -> (path: String, profile: TrackerProfile) {
    if let (id, port) = named, tracker.path == id { return (port.path, port.profile) }
    // Another device may have this path now, so find the profile again.
    guard let node = SerialNode.all(in: place).first(where: { $0.path == tracker.path }),
      let profile = profile(of: node)
    else { throw .cannotOpen(path: tracker.path, reason: "it is gone") }
    return (node.path, profile)
  }

  private static func reason(_ error: SystemError) -> String {
    switch error.number {
    case EBUSY:
      "another program uses it, perhaps ModemManager, which probes new devices for some seconds"
    case ENOTTY, EINVAL: "it is not a serial port"
    default: error.description
    }
  }
}
