// SPDX-License-Identifier: Apache-2.0

import BluetoothTracking
import CommandOptions
import CommandSupport
import HeadTracking

func trackersCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let settings = try trackerSettings(command)
  if command[Options.scan] { searchForNewTrackers() }
  let trackers = TrackerList.current(settings, detailed: true).trackers
  if Signals.received != nil { throw .interrupted }
  for provider in settings.providers {
    if let problem = provider.problem { printNote(problem) }
  }
  if command[Options.json] { return try printJSON(trackers.map(TrackerRecord.init)) }
  guard !trackers.isEmpty else {
    return try printOutput(
      """
      No tracker found.
      Plug one in, or pair and connect one over Bluetooth. Network trackers are not
      listed. For a program on this computer, use --tracker osc:PORT, opentrack:PORT or
      freepie:PORT; for a phone or another machine, osc:any:PORT, opentrack:any:PORT or
      freepie:any:PORT.

      """)
  }
  let heading = ["ID", "NAME", "PROTOCOL", "BUS", "ACCESS"]
  let details = trackers.compactMap(earphoneLine).joined()
  let advice = permissionAdvice(trackers) + kernelAdvice(trackers) + evidenceNote(trackers)
  try printOutput(table([heading] + trackers.map(row)) + details + advice)
}

/// Searches for new Bluetooth LE trackers for 10 s or until a signal.
private func searchForNewTrackers() {
  printNote("searching for Bluetooth LE trackers for 10 s; wake yours with its button")
  let problem = LowEnergyScan.run(seconds: 10) { Signals.received != nil }
  if let problem { printNote("cannot search for Bluetooth LE trackers: \(problem)") }
}

/// Returns a line about earphones; nil for other trackers, and if nothing is known.
private func earphoneLine(_ tracker: TrackerDescription) -> String? {
  guard let earphones = tracker.earphones else { return nil }
  var parts: [String] = []
  if earphones.state != .unknown { parts.append(earphones.state.rawValue) }
  if let bud = earphones.bud { parts.append("\(bud) bud leads") }
  let levels = ["headset", "left", "right", "case"].compactMap { part in
    earphones.battery[part].map { "\(part) \($0) %" }
  }
  if !levels.isEmpty { parts.append("battery " + levels.joined(separator: ", ")) }
  if !earphones.firmware.isEmpty { parts.append("firmware \(earphones.firmware)") }
  if earphones.isUntested { parts.append("untested model") }
  guard !parts.isEmpty else { return nil }
  return "\(tracker.name): \(parts.joined(separator: "; "))".withoutControls + "\n"
}

private func row(_ tracker: TrackerDescription) -> [String] {
  let access =
    switch tracker.access {
    case .ready where tracker.isAway:
      tracker.bus == .network ? "ready when reachable" : "ready when in range"
    case .ready: "ready"
    case .permissionDenied: "no permission"
    case .failed(let reason): reason
    case .heldByKernel(let driver): "held by \(driver)"
    }
  return [tracker.id, tracker.name, protocolName(tracker), tracker.bus.rawValue, access]
    .map(\.withoutControls)
}

/// Returns "AndroidHeadTracker 1.0" for "#AndroidHeadTracker#1.0".
private func protocolName(_ tracker: TrackerDescription) -> String {
  let words = tracker.protocolDescription.split(separator: "#")
  return words.isEmpty ? "-" : words.joined(separator: " ")
}

/// Returns advice on trackers that the user has no permission to open; empty if there are none.
private func permissionAdvice(_ trackers: [TrackerDescription]) -> String {
  let denied = trackers.filter { $0.access == .permissionDenied }
  guard !denied.isEmpty else { return "" }
  let rules = denied.compactMap(\.udevRule)
  let lines = rules.indices.filter { rules.firstIndex(of: rules[$0]) == $0 }.map { rules[$0] }
  let rule = """

    To get permission for a tracker, add the following to /etc/udev/rules.d/70-stillstage.rules
      \(lines.joined(separator: "\n  "))
    and reconnect the tracker. 'make install-udev' in the source folder installs the rules for all
    trackers with known vendor and product numbers.

    """
  let group = """
    \(lines.isEmpty ? "To" : "Or, to") get permission for a serial port, join its group:
    run 'sudo usermod -aG dialout $USER' and log in again.

    """
  let isSerial = denied.contains(where: \.isSerialPort)
  return (lines.isEmpty ? "\n" : rule) + (isSerial ? group : "")
}

/// Returns advice on trackers that a kernel driver holds; empty if there are none.
private func kernelAdvice(_ trackers: [TrackerDescription]) -> String {
  var names: [String] = []
  for tracker in trackers {
    guard case .heldByKernel = tracker.access, !names.contains(tracker.name) else { continue }
    names.append(tracker.name)
  }
  guard !names.isEmpty else { return "" }
  return """

    The kernel's driver hid-sensor-hub gives programs no access to
      \(names.map(\.withoutControls).joined(separator: "\n  "))
    To use such a tracker until it is reconnected, run
      sudo modprobe -r hid_sensor_custom hid_sensor_hub
    To use such a tracker permanently, write the line 'blacklist hid_sensor_hub' to
    /etc/modprobe.d/stillstage.conf and restart the computer, or use Linux 6.5 or later. Over USB,
    the package libhidapi-libusb0 lets Stillstage detach the driver from the tracker.

    """
}

/// Returns a note on trackers whose drivers were not verified on hardware; empty if there are none.
private func evidenceNote(_ trackers: [TrackerDescription]) -> String {
  func names(_ evidence: TrackerEvidence) -> String {
    var names: [String] = []
    for tracker in trackers where tracker.evidence == evidence && !names.contains(tracker.name) {
      names.append(tracker.name)
    }
    return names.map(\.withoutControls).joined(separator: ", ")
  }
  let (captures, documents) = (names(.captures), names(.documentation))
  var parts: [String] = []
  if !captures.isEmpty {
    parts.append(
      "The drivers of these trackers were verified with owners' recordings, not on hardware: "
        + "\(captures).")
  }
  if !documents.isEmpty {
    parts.append(
      "The drivers of these trackers were verified with protocol descriptions, not on hardware: "
        + "\(documents).")
  }
  guard !parts.isEmpty else { return "" }
  return """

    \(parts.joined(separator: "\n"))
    If yours behaves differently, please report it with a recording:
    stillstage trackers watch ID --record FILE.csv

    """
}
