// SPDX-License-Identifier: Apache-2.0

import DBus

/// A Bluetooth device as BlueZ describes it (org.bluez.Device1).
struct BluetoothDevice: Equatable {
  /// The object's path, such as `/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF`.
  var path: String
  /// The address, such as `AA:BB:CC:DD:EE:FF`.
  var address = ""
  var name = ""
  var isConnected = false
  /// Whether a search that is in progress has found the device.
  var isInRange = false
  /// Whether all services of a connected LE device are known.
  var isResolved = false
  /// The services, as lower-case UUIDs.
  var services: [String] = []
  /// The vendor and product IDs, such as `bluetooth:v004Cp2014d0100`; empty if unknown.
  var modalias = ""
  /// The adapter's address, such as `00:11:22:33:44:55`; empty if unknown.
  var adapter = ""

  /// Names are cut to this number of characters. A device's own name has at most 248 bytes
  /// [Bluetooth Core 5.4, 4 E 6.23], but the user can give it a longer one.
  static let longestName = 248

  /// Whether the address has the form that BlueZ writes. Devices without such an address are
  /// ignored, because trackers are identified by their addresses.
  var hasAddress: Bool { address.isBluetoothAddress }

  /// The vendor ID from `modalias`; 0 if unknown.
  var vendorID: UInt16 { number(after: "v") }
  /// The product ID from `modalias`; 0 if unknown.
  var productID: UInt16 { number(after: "p") }

  private func number(after letter: Character) -> UInt16 {
    guard let colon = modalias.firstIndex(of: ":"),
      let at = modalias[colon...].firstIndex(of: letter)
    else { return 0 }
    return UInt16(modalias[at...].dropFirst().prefix(4), radix: 16) ?? 0
  }
}

extension String {
  /// Whether the text is a Bluetooth address, such as `AA:BB:CC:DD:EE:FF`.
  var isBluetoothAddress: Bool {
    let parts = split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 6
      && parts.allSatisfy { $0.utf8.count == 2 && $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
  }
}
