// SPDX-License-Identifier: Apache-2.0

/// The driver of a HID tracker that a `TrackerProfile` describes.
struct ProfiledTracker: TrackerDriver {
  let inputLength = 4096
  private let profile: TrackerProfile
  private var decoder: FrameDecoder
  private var keepAliveDue = Int64.min

  init(
    _ profile: TrackerProfile, descriptor: HIDReportDescriptor, path: String,
    axes: AxisMap? = nil
  ) throws(HeadTrackingError) {
    if let problem = profile.problem {
      throw .notAHeadTracker(
        path: path, reason: "its profile '\(profile.name)' is invalid: \(problem)")
    }
    var fields: [TrackerProfile.Signal: HIDField] = [:]
    for (signal, number) in profile.frames.flatMap(\.signals) {
      guard case .usage(let usage, _) = number.place else { continue }
      guard let field = descriptor.field(.input, usage: usage) else {
        throw .notAHeadTracker(
          path: path,
          reason: "it lacks the usage that profile '\(profile.name)' names for \(signal.rawValue)")
      }
      fields[signal] = field
    }
    self.profile = profile
    decoder = FrameDecoder(profile, axes: axes, fields: fields)
  }

  var protocolDescription: String { "profile \(profile.name)" }

  mutating func start(_ link: some TrackerLink) throws(HeadTrackingError) {
    for report in profile.startFeatures { try link.setFeature(report) }
    for report in profile.start.packets { try link.write(report) }
  }

  mutating func keepAlive(_ link: some TrackerLink, now: Int64) {
    guard !profile.keepAlive.packets.isEmpty, now >= keepAliveDue else { return }
    keepAliveDue = now + Int64(profile.keepAliveSeconds * 1e9)
    for report in profile.keepAlive.packets { try? link.write(report) }
  }

  mutating func stop(_ link: some TrackerLink) {
    for report in profile.stop.packets { try? link.write(report) }
  }

  mutating func decode(_ report: [UInt8], arrival: Int64) -> [TrackerReading]? {
    if let id = profile.reportID, report.first != id { return report.isEmpty ? nil : [] }
    return decoder.decode(report, arrival: arrival)
  }
}
