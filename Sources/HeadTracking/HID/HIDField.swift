// SPDX-License-Identifier: Apache-2.0

/// One input, output or feature item of a report descriptor: `count` elements of `bitSize` bits
/// each.
///
/// Source: USB Device Class Definition for HID 1.11, sections 5.8 and 6.2.2.
public struct HIDField: Sendable, Equatable {
  public var kind: HIDReportKind
  /// The report ID; 0 if the device does not number its reports.
  public var reportID: UInt8
  /// Offset from the start of the report as read, in bits. An ID counts as part of the report.
  public var bitOffset: Int
  /// Bits per element; `value` and `set` support 1 to 32.
  public var bitSize: Int
  public var count: Int
  public var isConstant: Bool
  /// Whether each element is the value of its own usage. Otherwise, the field is an array: its
  /// elements select usages.
  public var isVariable: Bool
  public var logicalMinimum: Int64
  public var logicalMaximum: Int64
  public var physicalMinimum: Int64
  public var physicalMaximum: Int64
  public var unit: UInt32
  /// Physical values are multiplied by ten to the power of this exponent.
  public var unitExponent: Int
  /// The usages in descriptor order, with the page in the upper 16 bits.
  public var usageRanges: [ClosedRange<UInt32>]
  /// The usages of the enclosing collections, outermost first.
  public var collections: [HIDUsage]

  /// Returns the usage of an element; nil if the field has no usages. If there are more elements
  /// than usages, the last usage applies to the rest (HID 1.11, section 6.2.2.8).
  public func usage(of element: Int) -> HIDUsage? {
    var left = element
    for range in usageRanges {
      let size = Int(range.upperBound - range.lowerBound) + 1
      if left < size { return HIDUsage(range.lowerBound + UInt32(left)) }
      left -= size
    }
    return usageRanges.last.map { HIDUsage($0.upperBound) }
  }

  /// Returns the index of a usage in the list of the field's usages; nil if it is not listed.
  public func index(of usage: HIDUsage) -> Int? {
    var before = 0
    for range in usageRanges {
      if range.contains(usage.value) { return before + Int(usage.value - range.lowerBound) }
      before += Int(range.upperBound - range.lowerBound) + 1
    }
    return nil
  }

  /// Returns the raw value with which an array element selects a usage; nil if the field cannot
  /// select the usage.
  public func selector(for usage: HIDUsage) -> Int64? {
    guard !isVariable, let index = index(of: usage) else { return nil }
    let value = logicalMinimum + Int64(index)
    return value <= logicalMaximum ? value : nil
  }
}

extension HIDField {
  /// Returns the raw value of an element, sign-extended if the logical minimum is negative. Returns
  /// nil if the element does not exist, has an unsupported size or extends beyond the end of the
  /// report.
  ///
  /// - Parameter report: the report as read, with its ID if the device numbers its reports.
  public func value(in report: [UInt8], element: Int = 0) -> Int64? {
    guard (0..<count).contains(element), (1...32).contains(bitSize) else { return nil }
    let first = bitOffset + element * bitSize
    guard first + bitSize <= report.count * 8 else { return nil }
    var raw: UInt64 = 0
    for byte in (first / 8...(first + bitSize - 1) / 8).reversed() {
      raw = raw << 8 | UInt64(report[byte])
    }
    raw = raw >> UInt64(first % 8) & (1 << UInt64(bitSize) - 1)
    let isNegative = logicalMinimum < 0 && raw >> UInt64(bitSize - 1) == 1
    return isNegative ? Int64(raw) - 1 << Int64(bitSize) : Int64(raw)
  }

  /// Writes the raw value of an element into a report.
  ///
  /// - Returns: false if the element does not exist, has an unsupported size or extends beyond the
  ///   end of the report.
  @discardableResult
  public func set(_ value: Int64, in report: inout [UInt8], element: Int = 0) -> Bool {
    guard (0..<count).contains(element), (1...32).contains(bitSize) else { return false }
    let first = bitOffset + element * bitSize
    guard first + bitSize <= report.count * 8 else { return false }
    for bit in 0..<bitSize {
      let mask = UInt8(1) << UInt8((first + bit) % 8)
      if value >> Int64(bit) & 1 == 1 {
        report[(first + bit) / 8] |= mask
      } else {
        report[(first + bit) / 8] &= ~mask
      }
    }
    return true
  }

  /// Physical units per step of the raw value. This is the reciprocal of the resolution as defined
  /// in HID 1.11, section 6.2.2.7.
  public var resolution: Double {
    let logical = Double(logicalMaximum) - Double(logicalMinimum)
    let physical = Double(physicalMaximum) - Double(physicalMinimum)
    let isScaled = (physicalMinimum != 0 || physicalMaximum != 0) && logical != 0
    return (isScaled ? physical / logical : 1) * HIDField.powerOfTen(unitExponent)
  }

  /// Converts a raw value to a physical one, in the field's unit.
  public func physical(_ raw: Int64) -> Double {
    let isScaled = physicalMinimum != 0 || physicalMaximum != 0
    guard isScaled, logicalMaximum != logicalMinimum else { return Double(raw) * resolution }
    return (Double(raw) - Double(logicalMinimum)) * resolution
      + Double(physicalMinimum) * HIDField.powerOfTen(unitExponent)
  }

  /// Returns the physical value of an element, in the field's unit; nil if `value(in:element:)`
  /// returns nil.
  public func physicalValue(in report: [UInt8], element: Int = 0) -> Double? {
    value(in: report, element: element).map(physical)
  }

  /// Returns the raw value, within the logical range, whose physical value is nearest to `value`;
  /// the logical minimum if `value` is NaN.
  public func raw(nearestTo value: Double) -> Int64 {
    let offset = physical(logicalMinimum)
    let steps = resolution == 0 ? 0 : ((value - offset) / resolution).rounded()
    let highest = Double(logicalMaximum) - Double(logicalMinimum)
    return logicalMinimum + Int64(max(0, min(steps.isNaN ? 0 : steps, max(0, highest))))
  }

  private static func powerOfTen(_ exponent: Int) -> Double {
    var scale = 1.0
    for _ in 0..<abs(exponent) { scale *= 10 }
    return exponent < 0 ? 1 / scale : scale
  }
}
