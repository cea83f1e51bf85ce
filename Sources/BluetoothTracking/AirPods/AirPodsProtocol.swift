// SPDX-License-Identifier: Apache-2.0

import Geometry
package import HeadTracking

/// The host's part of the protocol for head tracking with AirPods, and with Beats headphones that
/// have the same chips.
package struct AirPodsProtocol: EarphoneProtocol {
  /// What the listener allows.
  package struct Settings: Sendable, Equatable {
    /// Whether to take the earphones over from another host, such as a phone.
    package var takesOver = false
    /// Whether a press of the stem recentres the stage.
    package var stemRecentres = false

    package init(takesOver: Bool = false, stemRecentres: Bool = false) {
      self.takesOver = takesOver
      self.stemRecentres = stemRecentres
    }
  }

  package private(set) var details = EarphoneDetails()
  private let settings: Settings
  private let isCalibrated: Bool
  private var starter: ServiceStarter
  private var motion = HeadMotion()
  private var known: EarphoneMemory
  private var openedAt: Int64 = 0
  private var isOpeningRepeated = false

  /// The opening packets, except `takeOver`, are sent again after this time, in nanoseconds,
  /// because the first copy can arrive too early for the earphones.
  private static let repetition: Int64 = 200_000_000

  /// Creates the protocol for one link.
  ///
  /// - Parameters:
  ///   - memory: what earlier links to the same device have shown.
  ///   - isCalibrated: whether a calibration exists or is being measured. If so, the samples stay
  ///     in the sensor's axes.
  package init(
    settings: Settings = Settings(), memory: EarphoneMemory = EarphoneMemory(),
    isCalibrated: Bool = false
  ) {
    self.settings = settings
    self.isCalibrated = isCalibrated
    known = memory
    starter = ServiceStarter(memory: memory)
    motion.sensorToHead = sensorToHead
  }

  package var memory: EarphoneMemory? {
    known == EarphoneMemory() ? nil : known
  }

  /// True without a calibration, because the bud's tilt in the ear differs between wearers.
  package var levelsOnRecenter: Bool { !isCalibrated }

  /// The rotation from the sensor's axes to the axes of the samples. It is the identity if
  /// `isCalibrated` is true or the sensor's mounting is unknown.
  private var sensorToHead: Quaternion {
    guard !isCalibrated, let mounting = known.mounting else { return .identity }
    return SensorDescription.sensorToHead(mounting)
  }

  // MARK: Steps

  package mutating func open(now: Int64) -> EarphoneOutput {
    openedAt = now
    starter.open(now: now)
    let takeOver = settings.takesOver ? [AAPPacket.takeOver] : []
    return EarphoneOutput(
      packets: [AAPPacket.handshake, AAPPacket.features, AAPPacket.notifications] + takeOver)
  }

  package mutating func receive(_ packet: [UInt8], now: Int64) -> EarphoneOutput {
    if let items = SensorFrame.items(packet) {
      return take(items, now)
    }
    guard let notification = AAPNotification(packet) else { return EarphoneOutput() }
    return take(notification, now)
  }

  package mutating func advance(now: Int64) -> EarphoneOutput {
    var output = EarphoneOutput()
    if !isOpeningRepeated, now - openedAt >= Self.repetition {
      isOpeningRepeated = true
      output.packets = [AAPPacket.handshake, AAPPacket.features, AAPPacket.notifications]
    }
    let step = starter.advance(now: now, isWorn: isWorn)
    output.packets += step.packets
    if step.isStart { motion.beginSettling() }
    output.needsReopening = step.needsReopening
    if details.state == .removed || details.state == .inCase, let held = motion.held(now: now) {
      output.readings.append(.head(held))
    }
    return output
  }

  package mutating func lost(now: Int64) {
    if let service = starter.crashed(now: now) { known.avoided.insert(service) }
  }

  package mutating func close(now: Int64) -> [[UInt8]] { starter.close() }

  // MARK: Sensor data

  private mutating func take(_ items: [SensorItem], _ now: Int64) -> EarphoneOutput {
    var output = EarphoneOutput()
    var reports: [MotionReport] = []
    for item in items {
      switch item {
      case .description(let service, let properties): describe(service, properties)
      case .acknowledged: continue
      case .ready(let service): starter.ready(service, now: now)
      case .report(let service, let bytes):
        guard let report = MotionReport(bytes) else {
          // Reports of fewer than 56 bytes come from other services on the same link, such as an
          // activity classifier, and do not count as rejected.
          output.rejectedCount += bytes.count >= 56 ? 1 : 0
          continue
        }
        starter.received(service, report.microseconds, now: now)
        known.service = service
        if report.version > 3 { details.isUntested = true }
        reports.append(report)
      }
    }
    if isWorn { output.readings = motion.take(reports, arrival: now).map(TrackerReading.head) }
    return output
  }

  private mutating func describe(_ service: UInt64, _ properties: ArraySlice<UInt8>) {
    guard SensorDescription.isMotion(properties) else { return }
    starter.describe(service)
    if !known.avoided.contains(service) { known.service = service }
    guard let mounting = SensorDescription.mounting(properties), mounting != known.mounting else {
      return
    }
    known.mounting = mounting
    motion.sensorToHead = sensorToHead
    motion.beginDiscontinuity()
  }

  // MARK: Notifications

  private var isWorn: Bool { details.state != .removed && details.state != .inCase }

  private mutating func take(
    _ notification: AAPNotification, _ now: Int64
  ) -> EarphoneOutput {
    switch notification {
    case .battery(let levels, let leading):
      details.battery.merge(levels) { $1 }
      // The reports come from the leading bud. When the other bud leads, their reference frame
      // changes.
      if let leading, let bud = details.bud, bud != leading { motion.beginDiscontinuity() }
      details.bud = leading ?? details.bud
    case .information(let texts): learn(texts)
    case .stem:
      if settings.stemRecentres { return EarphoneOutput(readings: [.recenterButton]) }
    case .ears(let first, let second):
      let wasWorn = isWorn
      let isIn = first == .inEar || second == .inEar
      details.state = isIn ? .worn : first == .inCase && second == .inCase ? .inCase : .removed
      guard wasWorn != isWorn else { return EarphoneOutput() }
      if isWorn { motion.beginDiscontinuity() }
      return EarphoneOutput(readings: [.worn(isWorn)])
    }
    return EarphoneOutput()
  }

  /// Takes the firmware version from the device information: the second text after the
  /// manufacturer.
  private mutating func learn(_ texts: [String]) {
    guard let maker = texts.firstIndex(where: { $0.hasPrefix("Apple") }), texts.count > maker + 2
    else { return }
    details.firmware = texts[maker + 2]
    known.firmware = details.firmware
  }
}
