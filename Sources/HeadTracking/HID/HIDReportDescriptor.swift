// SPDX-License-Identifier: Apache-2.0

/// A HID report descriptor: the meaning of the bits of each report.
///
/// Parsing stops at the first invalid item, but the fields before that item are available.
public struct HIDReportDescriptor: Sendable {
  /// The fields in descriptor order, including padding. Empty fields are omitted.
  public internal(set) var fields: [HIDField] = []
  /// The usages of the top-level collections, in descriptor order.
  public internal(set) var applications: [HIDUsage] = []
  var collections: Set<HIDUsage> = []
  /// Whether the reports begin with an ID.
  public internal(set) var hasReportIDs = false
  /// Whether parsing stopped before the end of the bytes or the last item is incomplete.
  public internal(set) var isDamaged = false

  init() {}

  public init(_ bytes: [UInt8]) {
    var parser = HIDDescriptorParser()
    parser.parse(bytes)
    self = parser.result
  }

  /// Returns the length of a report in bytes, including any ID; 0 if there is no such report.
  public func reportLength(_ kind: HIDReportKind, id: UInt8) -> Int {
    let bits = fields.lazy.filter { $0.kind == kind && $0.reportID == id }
      .map { $0.bitOffset + $0.bitSize * $0.count }.max()
    return ((bits ?? 0) + 7) / 8
  }

  /// Returns the first field of a kind that lists a usage; nil if there is none.
  public func field(_ kind: HIDReportKind, usage: HIDUsage) -> HIDField? {
    fields.first { $0.kind == kind && $0.index(of: usage) != nil }
  }
}

/// The purpose of a collection or of a field's element: a usage page and a usage ID.
public struct HIDUsage: Sendable, Equatable, Hashable {
  public var value: UInt32

  public init(_ value: UInt32) { self.value = value }

  public init(page: UInt16, usage: UInt16) {
    value = UInt32(page) << 16 | UInt32(usage)
  }

  public var page: UInt16 { UInt16(value >> 16) }
  public var usage: UInt16 { UInt16(value & 0xFFFF) }
}

/// The direction of a report: from the device (input), to the device (output) or both (feature).
public enum HIDReportKind: Sendable, Equatable, Hashable {
  case input
  case output
  case feature
}
