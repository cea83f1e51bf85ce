// SPDX-License-Identifier: Apache-2.0

import HeadTracking

/// The protocol of a Bluetooth LE tracker that a `TrackerProfile` describes.
struct ProfiledLowEnergy: LowEnergyProtocol {
  private let profile: TrackerProfile
  private let service: TrackerProfile.BluetoothService
  private var stream: ProfileStream

  init(_ profile: TrackerProfile, _ service: TrackerProfile.BluetoothService, axes: AxisMap?) {
    (self.profile, self.service) = (profile, service)
    stream = ProfileStream(profile, axes: axes)
  }

  var startWrites: [GATTWrite] { writes(profile.start) }
  var stopWrites: [GATTWrite] { writes(profile.stop) }
  var keepAlive: (writes: [GATTWrite], period: Int64)? {
    let writes = writes(profile.keepAlive)
    return writes.isEmpty ? nil : (writes, Int64(profile.keepAliveSeconds * 1e9))
  }

  private func writes(_ commands: TrackerProfile.Commands) -> [GATTWrite] {
    guard let target = service.write else { return [] }
    return commands.packets.map {
      GATTWrite(characteristic: target, bytes: $0, isAcknowledged: service.isAcknowledged)
    }
  }

  mutating func decode(_ notification: [UInt8], arrival: Int64) -> [TrackerReading]? {
    let found = stream.decode(notification, arrival: arrival)
    return found.readings.isEmpty && found.rejectedCount > 0 ? nil : found.readings
  }
}
