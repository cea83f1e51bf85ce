// SPDX-License-Identifier: Apache-2.0

/// What a HID field or collection is for: the usage page in the upper 16 bits, the usage below.
public struct HIDUsage: Sendable, Equatable, Hashable {
  public var value: UInt32

  public init(_ value: UInt32) { self.value = value }

  public init(page: UInt16, usage: UInt16) {
    value = UInt32(page) << 16 | UInt32(usage)
  }

  public var page: UInt16 { UInt16(value >> 16) }
  public var usage: UInt16 { UInt16(value & 0xFFFF) }
}

/// The kinds of report a HID device has.
public enum HIDReportKind: Sendable, Equatable, Hashable {
  case input
  case output
  case feature
}
