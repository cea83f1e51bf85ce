// SPDX-License-Identifier: Apache-2.0

/// A HID report descriptor: which bits of which report mean what.
///
/// Any bytes are accepted. Reading ends at the first item that cannot be meant, and what came
/// before stays; time and memory are proportional to the descriptor's length.
public struct HIDReportDescriptor: Sendable {
  /// All fields in descriptor order, padding included.
  public internal(set) var fields: [HIDField] = []
  /// The usages of the top-level collections.
  public internal(set) var applications: [HIDUsage] = []
  /// True when the reports begin with an id.
  public internal(set) var hasReportIDs = false
  /// True when reading ended before the end of the bytes.
  public internal(set) var isDamaged = false

  init() {}

  public init(_ bytes: [UInt8]) {
    var parser = HIDDescriptorParser()
    parser.parse(bytes)
    self = parser.result
  }

  /// Bytes of the report with its id, 0 for a report that does not exist.
  public func reportLength(_ kind: HIDReportKind, id: UInt8) -> Int {
    let bits = fields.lazy.filter { $0.kind == kind && $0.reportID == id }
      .map { $0.bitOffset + $0.bitSize * $0.count }.max()
    return ((bits ?? 0) + 7) / 8
  }

  /// The first field of the kind that carries the usage.
  public func field(_ kind: HIDReportKind, usage: HIDUsage) -> HIDField? {
    fields.first { $0.kind == kind && $0.index(of: usage) != nil }
  }
}

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
