// SPDX-License-Identifier: Apache-2.0

package import HeadTracking

/// A family of earphones that share a protocol.
package enum EarphoneKind: String, Sendable, CaseIterable {
  /// AirPods, and Beats earphones with the same chips.
  case airPods = "airpods"
  case galaxyBuds = "galaxy-buds"

  /// The name of the protocol in lists of trackers.
  var protocolName: String {
    switch self {
    case .airPods: "AAP"
    case .galaxyBuds: "Galaxy Buds"
    }
  }
}

/// A model of supported earphones. AirPods without a motion sensor are not excluded.
struct EarphoneModel: Equatable {
  var kind: EarphoneKind
  /// The service to connect to, as a lower-case UUID. For AirPods, it merely identifies the
  /// earphones.
  var service: String
  /// Whether the decoding of this model's reports has been tested with captures.
  var isTested: Bool

  private static let appleService = "74ec2172-0bad-4d01-8f77-997b2be0722a"
  private static let samsungService = "2e73a4ad-332d-41fc-90e2-16bef06523f2"
  private static let serialPort = "00001101-0000-1000-8000-00805f9b34fb"
  private static let apple: UInt16 = 0x004C

  /// Product IDs of AirPods Pro 2 (both versions) and AirPods Pro 3.
  private static let testedProducts: Set<UInt16> = [0x2014, 0x2024, 0x2027]
  /// Parts of the names of models without a motion sensor.
  private static let withoutSensor = ["Buds FE", "Buds3 FE", "Buds Core", "Buds+"]
  private static let onSerialPort = ["Buds Pro", "Buds Live"]

  /// Returns nil if the device is not supported.
  init?(_ device: BluetoothDevice) {
    if device.services.contains(Self.appleService) {
      kind = .airPods
      service = Self.appleService
      isTested = device.vendorID == Self.apple && Self.testedProducts.contains(device.productID)
      return
    }
    guard device.name.contains("Galaxy Buds"),
      !Self.withoutSensor.contains(where: device.name.contains)
    else { return nil }
    kind = .galaxyBuds
    isTested = false
    if device.services.contains(Self.samsungService) {
      service = Self.samsungService
    } else if device.services.contains(Self.serialPort),
      Self.onSerialPort.contains(where: device.name.contains)
    {
      service = Self.serialPort
    } else {
      return nil
    }
  }
}

extension FrameFile {
  /// Returns the first line of a capture from earphones of this kind.
  package static func heading(_ kind: EarphoneKind) -> String { heading(kind.rawValue) }
}
