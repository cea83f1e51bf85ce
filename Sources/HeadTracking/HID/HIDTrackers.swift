// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import System

struct HIDTrackers: TrackerProvider {
  let settings: TrackerSettings

  /// The maximum wait for the answers of the devices, in milliseconds.
  static let longestAnswer: Int64 = 1000
  /// How long to wait for other devices after a usable head tracker has answered, in nanoseconds.
  /// Used only if `takesFirst` is set.
  private static let grace: Int64 = 50_000_000
  private static let inquiries = DeviceInquiries<Answer>()

  /// The description of a tracker; nil if the device is not a tracker or is gone.
  private typealias Answer = TrackerDescription?

  func trackers(detailed: Bool) -> [TrackerDescription] {
    let (nodes, settings) = (HIDNode.all(), settings)
    let found = nodes.compactMap { node in
      TrackerModel.find(node, settings).map { (node: node, model: $0) }
    }
    let gate = DeviceGate(count: found.count)
    let questions = found.map { node, model in
      DeviceInquiries<Answer>.Question(key: "\(node.path) \(node.kernelName)") {
        Self.describe(node, model, nodes, settings, gate)
      }
    }
    var enoughSince: Int64?
    let answers = Self.inquiries.answers(
      to: questions, milliseconds: Self.longestAnswer,
      isEnough: { answers in
        if settings.isCancelled() { return true }
        guard settings.takesFirst, answers.contains(where: Self.isUsable) else { return false }
        let now = monotonic_nanoseconds()
        enoughSince = enoughSince ?? now
        return now - (enoughSince ?? now) > Self.grace
      })
    let late = TrackerDescription.Access.failed("it did not answer within 1 s")
    let asked = zip(found, answers).compactMap { found, answer -> TrackerDescription? in
      if let answer { return answer }
      if enoughSince != nil { return nil }
      return TrackerDescription(found.node, kind: found.model.kind, access: late)
    }
    return asked + HeldTracker.all().map(\.description)
  }

  private static func isUsable(_ answer: Answer?) -> Bool {
    guard let tracker = answer ?? nil else { return false }
    return tracker.kind == .head && tracker.access == .ready
  }

  func connect(
    _ tracker: TrackerDescription, isCalibrated: Bool
  ) throws(HeadTrackingError) -> any TrackerConnection {
    let nodes = HIDNode.all() + (tracker.usbPath == nil ? [] : HeldTracker.all().map(\.node))
    guard let node = nodes.first(where: { $0.path == tracker.path }) else {
      throw .cannotOpen(path: tracker.path, reason: errorText(ENODEV))
    }
    return try HIDConnection(node, settings)
  }

  /// Opens a node and asks the device what it is. Returns nil if it is not a tracker or is gone.
  private static func describe(
    _ node: HIDNode, _ model: TrackerModel, _ nodes: [HIDNode], _ settings: TrackerSettings,
    _ gate: DeviceGate
  ) -> TrackerDescription? {
    var tracker = TrackerDescription(node, kind: model.kind, access: .ready)
    do {
      let opening = Result { () throws(SystemError) in try HIDDevice(node) }
      gate.arrive()
      let device = try opening.get()
      gate.pass()
      // Closing can block while another device is being asked.
      let closing = Closing(device)
      defer { DetachedThread.run { closing.close() } }
      let context = TrackerContext(node: node, device: device, settings: settings, nodes: nodes)
      tracker.protocolDescription = try model.open(context).protocolDescription
    } catch let failure as SystemError {
      // The device was unplugged after it was listed.
      if [ENOENT, ENODEV, ENXIO].contains(failure.number) { return nil }
      tracker.access =
        failure.number == EACCES || failure.number == EPERM
        ? .permissionDenied : .failed(failure.description)
    } catch HeadTrackingError.notAHeadTracker {
      return nil
    } catch let failure as HeadTrackingError {
      tracker.access = .failed(failure.cause)
    } catch {
      tracker.access = .failed("\(error)")
    }
    return tracker
  }
}

private final class Closing: @unchecked Sendable {
  private var device: HIDDevice?

  init(_ device: HIDDevice) { self.device = device }

  func close() { device = nil }
}
