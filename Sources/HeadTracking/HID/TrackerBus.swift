// SPDX-License-Identifier: Apache-2.0

import CHIDAPI

/// How a tracker is connected.
public enum TrackerBus: String, Sendable, Equatable {
  case usb
  case bluetooth
  case i2c
  case spi
  /// The kernel's industrial I/O.
  case iio
  case unknown

  init(_ type: hid_bus_type) {
    self =
      switch type {
      case HID_API_BUS_USB: .usb
      case HID_API_BUS_BLUETOOTH: .bluetooth
      case HID_API_BUS_I2C: .i2c
      case HID_API_BUS_SPI: .spi
      default: .unknown
      }
  }
}
