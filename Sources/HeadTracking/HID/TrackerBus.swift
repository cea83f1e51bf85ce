// SPDX-License-Identifier: Apache-2.0

/// How a tracker is connected.
public enum TrackerBus: String, Sendable, Equatable {
  case usb
  case bluetooth
  case i2c
  case spi
  /// The kernel's industrial I/O.
  case iio
  case unknown

  /// - Parameter kernelNumber: BUS_USB and its like of the kernel's linux/input.h.
  init(kernelNumber: UInt32) {
    self =
      switch kernelNumber {
      case 0x03: .usb
      case 0x05: .bluetooth
      case 0x18: .i2c
      case 0x1C: .spi
      default: .unknown
      }
  }
}
