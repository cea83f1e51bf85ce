// SPDX-License-Identifier: Apache-2.0

import Capture
import SoundServer

/// An input in `stillstage inputs --json`; docs/recording.md explains the keys. The key of a nil
/// value is absent.
struct InputRecord: Encodable {
  let bluetoothCodec: String?
  let bluetoothProfile: String?
  let channelMap: [String]
  let channels: Int
  let description: String
  let encoding: String
  let formFactor: String?
  let id: String
  let isDefault: Bool
  let isMonitor: Bool
  let isRemembered: Bool
  let micModes: [String]
  let ports: [Port]
  let sampleRate: Int
  let state: String

  struct Port: Encodable {
    let description: String
    let isActive: Bool
    let isAvailable: Bool?
    let name: String
    let type: String
  }

  init(_ input: Input, remembered: String?) {
    bluetoothCodec = input.bluetoothCodec
    bluetoothProfile = input.bluetoothProfile
    channelMap = input.channelMap
    channels = input.channelCount
    description = input.description
    encoding = input.encoding.rawValue
    formFactor = input.formFactor
    id = input.name
    isDefault = input.isDefault
    isMonitor = input.isMonitor
    isRemembered = input.name == remembered
    micModes = input.microphoneModes.map(\.rawValue)
    ports = input.ports.map {
      Port(
        description: $0.description, isActive: $0.isActive, isAvailable: $0.isAvailable,
        name: $0.name, type: $0.type.rawValue)
    }
    sampleRate = input.sampleRate
    state = input.state.rawValue
  }
}
