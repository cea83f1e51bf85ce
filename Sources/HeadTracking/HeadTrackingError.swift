// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

/// An error of head tracking or of reading a recording or capture.
public enum HeadTrackingError: Error, Sendable, Equatable {
  /// No tracker matches the identifier. `available` lists the connected and the known trackers.
  case unknownTracker(String, available: [String])
  /// Several trackers match the identifier. `matches` lists them.
  case ambiguousTracker(String, matches: [String])
  /// The user has no permission to open the device node. The udev rule would grant access.
  case permissionDenied(path: String, udevRule: String)
  /// The user has no permission to open the serial port. The udev rule would grant access. The rule
  /// is nil if the port is not on USB.
  case portPermissionDenied(path: String, udevRule: String?)
  /// The device could not be opened or examined, did not answer, or is gone.
  case cannotOpen(path: String, reason: String)
  /// A kernel driver holds the tracker and gives programs no access to it.
  case heldByKernel(name: String, driver: String)
  /// The connection to the tracker over Bluetooth, MIDI or a network cannot be opened or used.
  case cannotConnect(name: String, reason: String)
  /// The device cannot be used as a head tracker.
  case notAHeadTracker(path: String, reason: String)
  /// A report could not be read, written or changed, or the driver does not support this device.
  case featureFailed(report: Int, reason: String)
  /// The text does not name three axes that form a right-handed set.
  case badAxisMap(String)
  /// The recording or capture cannot be read or used.
  case cannotReadMotion(path: String, reason: String)
  /// A line of the recording or capture is invalid.
  case badMotionRow(path: String, line: Int, reason: String)
  /// The caller ended the operation.
  case interrupted
}

extension HeadTrackingError: CustomStringConvertible {
  /// One line that states what failed, why, and usually what to do.
  public var description: String {
    switch self {
    case .unknownTracker(let id, let available):
      available.isEmpty
        ? "no head tracker matches '\(id)': none is connected; plug in or pair one"
        : "no head tracker matches '\(id)'; choose from: \(available.joined(separator: ", "))"
    case .ambiguousTracker(let id, let matches):
      "'\(id)' matches several head trackers; choose from: \(matches.joined(separator: ", "))"
    case .permissionDenied(let path, let rule):
      "no permission to open \(path); add the line \(rule)"
        + " to /etc/udev/rules.d/70-stillstage.rules and reconnect the tracker"
    case .portPermissionDenied(let path, let rule):
      "no permission to open \(path); join its group with 'sudo usermod -aG dialout $USER' and log "
        + "in again"
        + (rule.map {
          ", or add the line \($0) to /etc/udev/rules.d/70-stillstage.rules and reconnect the "
            + "tracker"
        } ?? "")
    case .cannotOpen(let path, let reason):
      "cannot open \(path): \(reason); reconnect the tracker or choose another"
    case .cannotConnect(let name, let reason):
      "cannot use the head tracking of \(name): \(reason)"
    case .notAHeadTracker(let path, let reason):
      "cannot use \(path) as a head tracker: \(reason); choose another tracker"
    case .heldByKernel(let name, let driver):
      "the kernel's driver \(driver) holds \(name); run 'sudo modprobe -r hid_sensor_custom "
        + "hid_sensor_hub' while the tracker is connected, or use Linux 6.5 or later"
    case .featureFailed: "\(cause); reconnect the tracker or choose another"
    case .badAxisMap(let text):
      "'\(text)' is not a right-handed axis map; give three signed axes such as y,-x,z"
    case .cannotReadMotion(let path, let reason):
      "cannot read \(path): \(reason); choose another file"
    case .badMotionRow(let path, let line, let reason):
      "\(path), line \(line): \(reason)"
    case .interrupted: "interrupted"
    }
  }
}

extension HeadTrackingError {
  /// The description; for `featureFailed` and `cannotOpen`, without the advice.
  var cause: String {
    switch self {
    case .featureFailed(let report, let reason):
      "the head tracker's report \(report) failed: \(reason)"
    case .cannotOpen(let path, let reason): "cannot open \(path): \(reason)"
    default: description
    }
  }
}

/// Returns a text for an error number. EIO can mean that a device did not answer or that it refused
/// the request.
func errorText(_ error: Int32) -> String {
  switch error {
  case 0: "no answer"
  case EIO: "the device did not answer, or it refused the request"
  default: SystemError(number: error).description
  }
}
