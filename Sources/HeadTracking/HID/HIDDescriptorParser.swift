// SPDX-License-Identifier: Apache-2.0

/// Parses the items of a report descriptor (HID 1.11, section 6.2.2).
struct HIDDescriptorParser {
  /// The maximum length of a report in the kernel's hidraw, in bits.
  static let maximumReportBits = 16384 * 8
  static let maximumDepth = 64

  private(set) var result = HIDReportDescriptor()
  private var globals = Globals()
  private var stack: [Globals] = []
  private var locals = Locals()
  private var collections: [HIDUsage] = []
  private var ends: [ReportKey: Int] = [:]

  private struct ReportKey: Hashable {
    var kind: HIDReportKind
    var id: UInt8
  }

  /// The data of an item, which can be decoded as a signed or an unsigned number.
  private struct Datum {
    var bits: UInt32 = 0
    var size = 0

    var signed: Int64 {
      switch size {
      case 1: Int64(Int8(truncatingIfNeeded: bits))
      case 2: Int64(Int16(truncatingIfNeeded: bits))
      default: Int64(Int32(truncatingIfNeeded: bits))
      }
    }
    var unsigned: Int64 { Int64(bits) }
  }

  private struct Globals {
    var page: UInt16 = 0
    var logicalMinimum = Datum()
    var logicalMaximum = Datum()
    var physicalMinimum = Datum()
    var physicalMaximum = Datum()
    var unitExponent = Datum()
    var unit: UInt32 = 0
    var reportSize: UInt32 = 0
    var reportCount: UInt32 = 0
    var reportID: UInt8 = 0
  }

  private struct Locals {
    var usages: [(range: ClosedRange<UInt32>, hasPage: Bool)] = []
    var minimum: Datum?
    var alternatives = 0
    var isInSet = false
  }

  mutating func parse(_ bytes: [UInt8]) {
    var at = 0
    while at < bytes.count {
      let prefix = bytes[at]
      if prefix == 0xFE {
        // A long item consists of this prefix, the length of the data, a tag and the data. HID 1.11
        // defines no tags of long items, so skip the item.
        guard at + 1 < bytes.count else { return damage() }
        at += 3 + Int(bytes[at + 1])
        continue
      }
      let size = [0, 1, 2, 4][Int(prefix & 3)]
      guard at + size < bytes.count else { return damage() }
      var datum = Datum(bits: 0, size: size)
      for byte in 0..<size {
        datum.bits |= UInt32(bytes[at + 1 + byte]) << UInt32(8 * byte)
      }
      guard read(tag: prefix & 0xFC, datum) else { return damage() }
      at += 1 + size
    }
    if at > bytes.count { damage() }
  }

  private mutating func damage() { result.isDamaged = true }

  private mutating func read(tag: UInt8, _ datum: Datum) -> Bool {
    switch tag >> 2 & 3 {
    case 0:
      defer { locals = Locals() }
      return readMain(tag, datum)
    case 1: return readGlobal(tag, datum)
    case 2:
      readLocal(tag, datum)
      return true
    default: return true
    }
  }

  private mutating func readMain(_ tag: UInt8, _ datum: Datum) -> Bool {
    switch tag {
    case 0x80: return addField(.input, datum.bits)
    case 0x90: return addField(.output, datum.bits)
    case 0xB0: return addField(.feature, datum.bits)
    case 0xA0:
      guard collections.count < Self.maximumDepth else { return false }
      let usage = resolvedUsages().first.map { HIDUsage($0.lowerBound) } ?? HIDUsage(0)
      if collections.isEmpty { result.applications.append(usage) }
      collections.append(usage)
      result.collections.insert(usage)
    case 0xC0:
      guard !collections.isEmpty else { return false }
      collections.removeLast()
    default: break
    }
    return true
  }

  private mutating func readGlobal(_ tag: UInt8, _ datum: Datum) -> Bool {
    switch tag {
    case 0x04: globals.page = UInt16(truncatingIfNeeded: datum.bits)
    case 0x14: globals.logicalMinimum = datum
    case 0x24: globals.logicalMaximum = datum
    case 0x34: globals.physicalMinimum = datum
    case 0x44: globals.physicalMaximum = datum
    case 0x54: globals.unitExponent = datum
    case 0x64: globals.unit = datum.bits
    case 0x74: globals.reportSize = datum.bits
    case 0x94: globals.reportCount = datum.bits
    case 0x84:
      guard (1...255).contains(datum.bits) else { return false }
      globals.reportID = UInt8(datum.bits)
      result.hasReportIDs = true
    case 0xA4:
      guard stack.count < Self.maximumDepth else { return false }
      stack.append(globals)
    case 0xB4:
      guard let saved = stack.popLast() else { return false }
      globals = saved
    default: break
    }
    return true
  }

  private mutating func readLocal(_ tag: UInt8, _ datum: Datum) {
    switch tag {
    case 0x08: addUsages(datum.bits...datum.bits, hasPage: datum.size == 4)
    case 0x18: locals.minimum = datum
    case 0x28:
      guard let first = locals.minimum, first.bits <= datum.bits else { return }
      addUsages(first.bits...datum.bits, hasPage: datum.size == 4)
      locals.minimum = nil
    case 0xA8:
      // Of a set of alternative usages, keep only the first, which is the preferred one.
      locals.isInSet = datum.bits == 1
      locals.alternatives = 0
    default: break
    }
  }

  private mutating func addUsages(_ range: ClosedRange<UInt32>, hasPage: Bool) {
    if locals.isInSet {
      locals.alternatives += 1
      if locals.alternatives > 1 { return }
    }
    locals.usages.append((range, hasPage))
  }

  /// Returns the usages for the main item. A usage without a page gets the current page (HID 1.11,
  /// section 6.2.2.8).
  private func resolvedUsages() -> [ClosedRange<UInt32>] {
    let page = UInt32(globals.page) << 16
    return locals.usages.map { usage in
      if usage.hasPage { return usage.range }
      return page | usage.range.lowerBound & 0xFFFF...page | usage.range.upperBound & 0xFFFF
    }
  }

  private mutating func addField(_ kind: HIDReportKind, _ flags: UInt32) -> Bool {
    let key = ReportKey(kind: kind, id: globals.reportID)
    let start = ends[key] ?? (globals.reportID == 0 ? 0 : 8)
    let (bits, isTooMuch) = globals.reportSize.multipliedReportingOverflow(
      by: globals.reportCount)
    guard !isTooMuch, start + Int(bits) <= Self.maximumReportBits else { return false }
    ends[key] = start + Int(bits)
    guard bits > 0 else { return true }
    let logicalMinimum = globals.logicalMinimum.signed
    let physicalMinimum = globals.physicalMinimum.signed
    result.fields.append(
      HIDField(
        kind: kind, reportID: globals.reportID, bitOffset: start,
        bitSize: Int(globals.reportSize), count: Int(globals.reportCount),
        isConstant: flags & 1 != 0, isVariable: flags & 2 != 0, logicalMinimum: logicalMinimum,
        logicalMaximum: Self.maximum(globals.logicalMaximum, above: logicalMinimum),
        physicalMinimum: physicalMinimum,
        physicalMaximum: Self.maximum(globals.physicalMaximum, above: physicalMinimum),
        unit: globals.unit, unitExponent: Self.exponent(globals.unitExponent),
        usageRanges: resolvedUsages(), collections: collections))
    return true
  }

  /// Decodes a maximum, which counts as signed only if the minimum is negative. Many descriptors
  /// contain the byte 0xFF for 255.
  private static func maximum(_ datum: Datum, above minimum: Int64) -> Int64 {
    minimum < 0 ? datum.signed : datum.unsigned
  }

  /// Decodes a unit exponent: a two's complement nibble or, from some devices, a wider signed
  /// number. Limits the wider number to the range from -16 to 16.
  private static func exponent(_ datum: Datum) -> Int {
    if datum.bits < 16 { return Int(datum.bits) - (datum.bits > 7 ? 16 : 0) }
    return Int(max(-16, min(16, datum.signed)))
  }
}
