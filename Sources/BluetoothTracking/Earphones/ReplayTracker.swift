// SPDX-License-Identifier: Apache-2.0

package import HeadTracking
import Synchronization

/// Provides a tracker that replays a capture of a tracker's packets once, at the original speed.
package final class ReplayTracker: TrackerProvider {
  /// The prefix of the tracker's default ID. The path of the file follows it.
  package static let prefix = "replay:"

  private let file: FrameFile
  private let path: String
  private let id: String
  private let source: Source
  private let axes: AxisMap?
  private let isDone = Atomic<Bool>(false)

  /// The device that sent the packets, or the profile that describes it.
  private enum Source {
    case earphones(EarphoneKind, EarphoneMemory)
    case lowEnergy(LowEnergyModel)
    case profile(TrackerProfile)
  }

  /// Reads the capture.
  ///
  /// - Parameters:
  ///   - path: the file, plain or compressed with gzip.
  ///   - id: the tracker's ID; if nil, the ID is `replay:` followed by the path.
  ///   - profile: the profile to decode the packets with; nil for the protocol that the capture
  ///     names.
  ///   - profiles: the known profiles, one of which the capture may name.
  ///   - axes: the mounting of the tracker on the head; nil for the usual mounting. It has no
  ///     effect for earphones and Waves Nx trackers.
  ///   - memory: the mounting and service of AirPods, for a capture that does not contain them.
  /// - Throws: `badMotionRow` if a line is invalid, or if the file is empty or has only comments;
  ///   `cannotReadMotion` if the file cannot be read or its packets cannot be replayed.
  package init(
    _ path: String, id: String? = nil, profile: TrackerProfile? = nil,
    profiles: [TrackerProfile] = [],
    axes: AxisMap? = nil, memory: EarphoneMemory = EarphoneMemory()
  ) throws(HeadTrackingError) {
    (self.path, self.axes, self.id) = (path, axes, id ?? Self.prefix + path)
    let file = try FrameFile(String(decoding: TextFile.read(path), as: UTF8.self), path: path)
    self.file = file
    if let profile {
      source = .profile(profile)
    } else if let kind = EarphoneKind(rawValue: file.source) {
      source = .earphones(kind, memory)
    } else if let model = LowEnergyModel.all.first(where: { $0.source == file.source }) {
      source = .lowEnergy(model)
    } else if let profile = profiles.first(where: {
      FrameFile.word("profile:\($0.name)") == file.source
    }) {
      source = .profile(profile)
    } else {
      throw .cannotReadMotion(
        path: path,
        reason: "it holds packets of '\(file.source)', which cannot be replayed without a profile "
          + "(give replay:FILE:PROFILE)")
    }
  }

  package func trackers(detailed: Bool) -> [TrackerDescription] {
    guard !isDone.load(ordering: .relaxed) else { return [] }
    let name = path.split(separator: "/").last.map(String.init) ?? path
    var tracker = TrackerDescription(
      path: id, vendorID: 0, productID: 0, serial: "", manufacturer: "", product: name,
      bus: .unknown, protocolDescription: "", kind: .head, access: .ready, id: id)
    tracker.levelsItself = true
    switch source {
    case .earphones(let kind, _):
      tracker.protocolDescription = kind.protocolName
      // With these details, the tracker is treated as earphones, for example when it is calibrated.
      tracker.earphones = EarphoneDetails(isUntested: kind == .galaxyBuds)
      tracker.evidence = kind == .galaxyBuds ? .documentation : .captures
    case .lowEnergy(let model):
      tracker.protocolDescription = model.name
      (tracker.evidence, tracker.levelsItself) = (model.evidence, model.levelsItself)
    case .profile(let profile):
      tracker.protocolDescription = "profile \(profile.name)"
      (tracker.evidence, tracker.levelsItself) = (profile.evidence, profile.hasOrientation)
    }
    return [tracker]
  }

  package func connect(
    _ tracker: TrackerDescription, isCalibrated: Bool
  ) throws(HeadTrackingError) -> any TrackerConnection {
    let atEnd: @Sendable () -> Void = { [weak self] in
      self?.isDone.store(true, ordering: .relaxed)
    }
    switch source {
    case .earphones(.airPods, let memory):
      return EarphoneReplay(
        file.frames, AirPodsProtocol(memory: memory, isCalibrated: isCalibrated), atEnd: atEnd)
    case .earphones(.galaxyBuds, _):
      return EarphoneReplay(
        file.frames, GalaxyBudsProtocol(isCalibrated: isCalibrated), atEnd: atEnd)
    case .lowEnergy(let model):
      let settings = LowEnergyModel.Settings(axes: axes, isCalibrated: isCalibrated)
      return PacketReplay(file.frames, model.open(settings), atEnd: atEnd)
    case .profile(let profile):
      // The decoding does not depend on the link, so an empty service suffices.
      let service = TrackerProfile.BluetoothService(notify: "")
      return PacketReplay(
        file.frames, ProfiledLowEnergy(profile, service, axes: axes), atEnd: atEnd)
    }
  }
}
