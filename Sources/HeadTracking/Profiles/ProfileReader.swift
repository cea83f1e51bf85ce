// SPDX-License-Identifier: Apache-2.0

import Geometry

/// Reads a tracker profile from JSON. Calibration/tracker.schema.json describes the format.
public struct ProfileReader {
  /// The version of the format.
  public static let schema = 1
  /// The largest accepted file, in bytes.
  package static let largestFile = 1 << 18

  private let keys: ProfileKeys
  private let problems: ProfileKeys.Problems

  private static let known = [
    "$schema", "schema", "name", "comment", "link", "vendor", "product", "usage", "kind", "report",
    "axes", "order", "inverse", "mount", "serial", "ble", "tcp", "udp", "midi", "frame", "frames",
    "when", "signals", "clock", "start", "stop", "keepAlive", "evidence",
  ]

  /// Reads a profile. Any bytes may be passed.
  ///
  /// - Returns: the profile, and the problems in the order of their lines. The profile is nil
  ///   unless all problems are harmless.
  public static func read(
    _ bytes: [UInt8]
  ) -> (profile: TrackerProfile?, problems: [ProfileProblem]) {
    let problems = ProfileKeys.Problems()
    guard bytes.count <= largestFile else {
      return (
        nil, [ProfileProblem(line: nil, text: "it is larger than 256 KiB, which is the limit")]
      )
    }
    let json: LocatedJSON
    do throws(ProfileProblem) { json = try LocatedJSON.read(bytes) } catch { return (nil, [error]) }
    let profile = ProfileKeys(json, "profile", known: known, problems)
      .flatMap { ProfileReader(keys: $0, problems: problems).profile() }
    let found = problems.all.enumerated().sorted {
      ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset)
    }.map(\.element)
    return (found.allSatisfy(\.isHarmless) ? profile : nil, found)
  }

  private func profile() -> TrackerProfile? {
    guard let schema = keys.required("schema", { keys.whole($0, 0...1_000_000) }) else {
      return nil
    }
    guard schema == Self.schema else {
      problems.add(
        "it has schema \(schema), but this program reads only schema \(Self.schema)",
        line: keys.line(of: "schema"))
      return nil
    }
    let name = keys.required("name", keys.text)
    let link = keys["link"] == nil ? "hid" : keys.word("link", TrackerProfile.Link.names)
    guard let name, let link else { return nil }
    var profile = TrackerProfile(name: name)
    if let vendor = link == "hid" ? keys.required("vendor", keys.hex) : keys.hex("vendor") {
      profile.vendorID = vendor
    }
    profile.productID = keys.hex("product")
    profile.usage = keys.text("usage").flatMap { usage($0, line: keys.line(of: "usage")) }
    profile.reportID = keys.whole("report", 0...255).map(UInt8.init)
    if let kind = keys.word("kind", ["head", "controller", "device"]) {
      profile.kind = TrackerKind(rawValue: kind) ?? .head
    }
    readLink(link, &profile)
    readConventions(&profile)
    readCommands(&profile)
    let frames = ProfileFrames(keys: keys, problems: problems)
    if let framing = frames.framing(link) { profile.framing = framing }
    if let kinds = frames.kinds() { profile.frames = kinds } else { return nil }
    if problems.all.allSatisfy(\.isHarmless), let problem = profile.problem {
      problems.add(problem, line: frames.line)
    }
    return profile
  }

  private func readConventions(_ profile: inout TrackerProfile) {
    if let axes = keys.text("axes") {
      do throws(HeadTrackingError) { profile.axes = try AxisMap(axes) } catch {
        problems.add(error.description, line: keys.line(of: "axes"))
      }
    }
    if let order = keys.word("order", TrackerProfile.AngleOrder.allCases.map(\.rawValue)) {
      profile.order = TrackerProfile.AngleOrder(rawValue: order) ?? .zyx
    }
    profile.isInverse = keys.flag("inverse") ?? false
    if let evidence = keys.word("evidence", ["hardware", "captures", "documentation"]) {
      profile.evidence = TrackerEvidence(rawValue: evidence) ?? .documentation
    }
    if keys["mount"] != nil {
      let parts = keys.list("mount").compactMap { item -> Double? in
        if case .number(let number) = item.value { number } else { nil }
      }
      let squared = parts.reduce(0) { $0 + $1 * $1 }
      if parts.count == 4, abs(squared - 1) < 0.01 {
        profile.mount = Quaternion(w: parts[0], x: parts[1], y: parts[2], z: parts[3]).normalized
      } else {
        problems.add(
          "'mount' must be a unit quaternion [w, x, y, z]", line: keys.line(of: "mount"))
      }
    }
    if let clock = object("clock", ["tick", "bits"]) {
      profile.tickSeconds = clock.required("tick", clock.number) ?? profile.tickSeconds
      profile.clockBits = clock.whole("bits", 8...64) ?? profile.clockBits
    }
  }

  private func readCommands(_ profile: inout TrackerProfile) {
    if let start = object("start", ["features", "outputs", "bytes", "text", "delay"]) {
      profile.startFeatures = start.packets("features")
      profile.start = commands(start)
    }
    if let stop = object("stop", ["outputs", "bytes", "text"]) { profile.stop = commands(stop) }
    if let keep = object("keepAlive", ["outputs", "bytes", "text", "seconds"]) {
      profile.keepAlive = commands(keep)
      profile.keepAliveSeconds = keep.required("seconds", keep.number) ?? 1
    }
  }

  private func commands(_ keys: ProfileKeys) -> TrackerProfile.Commands {
    TrackerProfile.Commands(
      keys.packets("outputs") + keys.packets("bytes") + keys.texts("text"),
      delayMilliseconds: keys.whole("delay", 0...10_000) ?? 0)
  }

  private func readLink(_ link: String, _ profile: inout TrackerProfile) {
    switch link {
    case "serial":
      let port = object("serial", ["baud", "dtr"])
      let baud = port?.whole("baud", 1...10_000_000) ?? 115_200
      if !TrackerProfile.SerialPort.bauds.contains(baud) {
        problems.add(
          "\(baud) is not a supported baud rate", line: port?.line(of: "baud") ?? keys.line)
      }
      profile.link = .serial(.init(baud: baud, setsDTR: port?.flag("dtr") ?? true))
    case "ble":
      guard let ble = required("ble", ["name", "service", "notify", "write", "acknowledged"])
      else { return }
      let notify = ble.required("notify", ble.text) ?? ""
      profile.link = .ble(
        .init(
          name: ble.text("name"), service: ble.text("service")?.lowercased(),
          notify: notify.lowercased(), write: ble.text("write")?.lowercased(),
          isAcknowledged: ble.flag("acknowledged") ?? true))
    case "tcp":
      guard let tcp = required("tcp", ["host", "port"]) else { return }
      profile.link = .tcp(place(tcp, address: tcp.required("host", tcp.text)))
    case "udp":
      guard let udp = required("udp", ["address", "port"]) else { return }
      profile.link = .udp(place(udp, address: udp.text("address") ?? "loopback"))
    case "midi":
      guard let midi = required("midi", ["port"]) else { return }
      profile.link = .midi(.init(name: midi.required("port", midi.text) ?? ""))
    default: break
    }
  }

  private func place(_ keys: ProfileKeys, address: String?) -> TrackerProfile.NetworkPlace {
    TrackerProfile.NetworkPlace(
      address: address ?? "", port: keys.required("port") { keys.whole($0, 1...65535) } ?? 0)
  }

  private func object(_ name: String, _ known: [String]) -> ProfileKeys? {
    keys[name].flatMap { ProfileKeys($0, name, known: known, problems) }
  }

  private func required(_ name: String, _ known: [String]) -> ProfileKeys? {
    keys.required(name) { _ in object(name, known) }
  }

  /// Parses a HID usage, `PAGE:USAGE` in hexadecimal.
  private func usage(_ text: String, line: Int) -> HIDUsage? {
    if let usage = HIDUsage(text) { return usage }
    problems.add("'\(text)' is not a usage such as 0001:0032", line: line)
    return nil
  }
}

extension HIDUsage {
  /// Parses `PAGE:USAGE` in hexadecimal; nil for other texts.
  init?(_ text: String) {
    let parts = text.split(separator: ":").map { UInt16($0, radix: 16) }
    guard parts.count == 2, let page = parts[0], let usage = parts[1] else { return nil }
    self.init(page: page, usage: usage)
  }
}
