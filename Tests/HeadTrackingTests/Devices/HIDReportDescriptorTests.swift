// SPDX-License-Identifier: Apache-2.0

import Glibc
import HeadTracking
import TestSupport
import Testing

@Suite struct HIDReportDescriptorTests {
  private struct Layout {
    var id: UInt8
    var kind: HIDReportKind
    var usage: HIDUsage
    var bits: Int
    var count: Int
    var low: Int64
    var high: Int64
    var offset: Int
  }

  /// Random fields in random reports, and the descriptor that defines them.
  private func random(
    _ generator: inout SeededGenerator, ids: [UInt8]
  ) -> (layout: [Layout], bytes: [UInt8]) {
    var builder = DescriptorBuilder()
    var layout: [Layout] = []
    var ends: [String: Int] = [:]
    builder.page(0x20)
    builder.usage(0xE1)
    builder.collection(1) { builder in
      for index in 0..<Int.random(in: 1...20, using: &generator) {
        let id = ids.randomElement(using: &generator)!
        let isInput = Bool.random(using: &generator)
        let bits = Int.random(in: 1...32, using: &generator)
        let count = Int.random(in: 1...5, using: &generator)
        let isSigned = bits > 1 && Bool.random(using: &generator)
        let span = Int64(1) << Int64(bits)
        let low = isSigned ? -span / 2 : 0
        let high = isSigned ? span / 2 - 1 : span - 1
        let key = "\(id) \(isInput)"
        let offset = ends[key] ?? (id == 0 ? 0 : 8)
        ends[key] = offset + bits * count
        let usage = HIDUsage(page: 0x20, usage: UInt16(0x500 + index))
        if id != 0 { builder.reportID(Int64(id)) }
        builder.item(0x14, low, size: 4)
        builder.item(0x24, high, size: 4)
        builder.shape(bits: Int64(bits), count: Int64(count))
        builder.usage(Int64(usage.usage))
        isInput ? builder.input(2) : builder.feature(2)
        layout.append(
          Layout(
            id: id, kind: isInput ? .input : .feature, usage: usage, bits: bits, count: count,
            low: low, high: high, offset: offset))
      }
    }
    return (layout, builder.bytes)
  }

  @Test(arguments: [[UInt8(0)], [1, 2, 14, 255]])
  func fieldsRoundTripThroughRandomDescriptors(ids: [UInt8]) {
    var generator = SeededGenerator.forTest()
    for _ in 0..<25 {
      let (layout, bytes) = random(&generator, ids: ids)
      let descriptor = HIDReportDescriptor(bytes)
      #expect(!descriptor.isDamaged)
      #expect(descriptor.fields.count == layout.count)
      #expect(descriptor.hasReportIDs == (ids != [0]))
      #expect(descriptor.applications == [HIDUsage(page: 0x20, usage: 0xE1)])
      for expected in layout {
        guard let field = descriptor.field(expected.kind, usage: expected.usage) else {
          Issue.record("field \(expected.usage) is missing")
          continue
        }
        #expect(field.bitOffset == expected.offset && field.bitSize == expected.bits)
        #expect(field.logicalMinimum == expected.low && field.logicalMaximum == expected.high)
        let length = descriptor.reportLength(expected.kind, id: expected.id)
        var report = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let before = report
        let values = (0..<expected.count).map { _ in
          Int64.random(in: expected.low...expected.high, using: &generator)
        }
        for (element, value) in values.enumerated() {
          #expect(field.set(value, in: &report, element: element))
        }
        for (element, value) in values.enumerated() {
          #expect(field.value(in: report, element: element) == value)
        }
        let own = expected.offset..<expected.offset + expected.bits * expected.count
        let moved = (0..<length * 8).filter { bit in
          let change: UInt8 = before[bit / 8] ^ report[bit / 8]
          return !own.contains(bit) && change & (1 << UInt8(bit % 8)) != 0
        }
        #expect(moved.isEmpty)
        #expect(field.value(in: [], element: 0) == nil)
        #expect(field.value(in: report, element: expected.count) == nil)
      }
    }
  }

  private func single(_ body: (inout DescriptorBuilder) -> Void) throws -> HIDField {
    var builder = DescriptorBuilder()
    builder.page(0x20)
    builder.shape(bits: 8, count: 1)
    body(&builder)
    builder.usage(0x545)
    builder.input(2)
    return try #require(HIDReportDescriptor(builder.bytes).fields.last)
  }

  @Test func oneByteMaximumOf255IsUnsigned() throws {
    let field = try single {
      $0.item(0x14, 0, size: 1)
      $0.item(0x24, 255, size: 1)
    }
    #expect(field.logicalMaximum == 255)
    #expect(field.value(in: [0xFE]) == 254)
    // The same holds if the maximum comes first.
    let other = try single {
      $0.item(0x24, 255, size: 1)
      $0.item(0x14, 0, size: 1)
    }
    #expect(other.logicalMaximum == 255)
  }

  @Test func negativeMinimumMakesValuesSigned() throws {
    let field = try single { $0.logical(-127, 127) }
    #expect(field.value(in: [0xFE]) == -2)
  }

  @Test(arguments: [
    (Int64(0x0D), -3), (0x08, -8), (0x0F, -1), (0x07, 7), (0, 0), (0xFD, -3), (0xF8, -8),
  ])
  func unitExponentIsASignedNibble(written: Int64, meant: Int) throws {
    let field = try single { $0.item(0x54, written, size: 1) }
    #expect(field.unitExponent == meant)
  }

  @Test func physicalRangeScalesValues() throws {
    let field = try single {
      $0.logical(0, 63)
      $0.physical(10, 100, exponent: -3)
    }
    #expect(abs(field.physical(0) - 0.010) < 1e-12)
    #expect(abs(field.physical(63) - 0.100) < 1e-12)
    #expect(field.raw(nearestTo: 0.010) == 0)
    #expect(field.raw(nearestTo: 0.020) == 7)
    #expect(field.raw(nearestTo: 5) == 63)
    #expect(field.raw(nearestTo: -5) == 0)
  }

  @Test func physicalRangeAppliesUntilBothLimitsAreZero() throws {
    var builder = DescriptorBuilder()
    builder.page(0x20)
    builder.shape(bits: 8, count: 1)
    builder.logical(0, 100)
    builder.physical(0, 1000)
    builder.usage(1)
    builder.input(2)
    builder.usage(2)
    builder.input(2)
    builder.physical(0, 0)
    builder.usage(3)
    builder.input(2)
    let fields = HIDReportDescriptor(builder.bytes).fields
    #expect(fields.map { $0.physical(50) } == [500, 500, 50])
  }

  @Test func shortUsagesTakeThePageOfTheMainItem() {
    var builder = DescriptorBuilder()
    builder.page(0x01)
    builder.shape(bits: 8, count: 5)
    builder.usage(0x0009_0003, size: 4)
    builder.usageRange(0x30, 0x32)
    builder.page(0x20)
    builder.input(2)
    let field = HIDReportDescriptor(builder.bytes).fields[0]
    let usages = (0..<5).map { field.usage(of: $0)?.value }
    #expect(usages == [0x90003, 0x200030, 0x200031, 0x200032, 0x200032])
    #expect(field.index(of: HIDUsage(page: 0x20, usage: 0x31)) == 2)
  }

  @Test func selectorsAreIndicesFromTheLogicalMinimum() {
    var builder = DescriptorBuilder()
    builder.page(0x20)
    builder.logical(1, 3)
    builder.shape(bits: 2, count: 1)
    for usage in [0x842, 0x841, 0x840] as [Int64] { builder.usage(usage) }
    builder.feature(0)
    let field = HIDReportDescriptor(builder.bytes).fields[0]
    #expect(field.selector(for: HIDUsage(page: 0x20, usage: 0x841)) == 2)
    #expect(field.selector(for: HIDUsage(page: 0x20, usage: 0x840)) == 3)
    #expect(field.selector(for: HIDUsage(page: 0x20, usage: 0x843)) == nil)
  }

  @Test func globalsArePushedAndPopped() {
    var builder = DescriptorBuilder()
    builder.page(0x20)
    builder.shape(bits: 8, count: 1)
    builder.push()
    builder.page(0x09)
    builder.shape(bits: 3, count: 2)
    builder.usage(1)
    builder.input(2)
    builder.pop()
    builder.usage(2)
    builder.input(2)
    let fields = HIDReportDescriptor(builder.bytes).fields
    #expect(fields.map(\.bitSize) == [3, 8])
    #expect(fields.map { $0.usage(of: 0)?.page } == [9, 0x20])
    #expect(fields[1].bitOffset == 6)
  }

  @Test func longItemsAreSkippedAndDelimitedUsagesCountOnce() {
    var builder = DescriptorBuilder()
    builder.page(0x20)
    builder.bytes += [0xFE, 3, 0x55, 0x81, 0x81, 0x81]
    builder.shape(bits: 8, count: 2)
    builder.item(0xA8, 1)
    builder.usage(7)
    builder.usage(8)
    builder.item(0xA8, 0)
    builder.usage(9)
    builder.input(2)
    let descriptor = HIDReportDescriptor(builder.bytes)
    #expect(!descriptor.isDamaged)
    #expect(descriptor.fields.map(\.usageRanges) == [[0x200007...0x200007, 0x200009...0x200009]])
  }

  @Test(
    arguments: [
      [0x74, 1, 0x97, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 2],
      [0x77, 0xFF, 0xFF, 0xFF, 0xFF, 0x97, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 2],
      [0x75, 8, 0x95, 4, 0x81], [0xFE], [0xFE, 0xFF, 0, 1], [0xB4], [0xC0], [0x85, 0], [],
    ] as [[UInt8]])
  func damagedTailKeepsThePrecedingFields(tail: [UInt8]) {
    var builder = DescriptorBuilder()
    builder.page(0x20)
    builder.shape(bits: 8, count: 1)
    builder.usage(1)
    builder.input(2)
    let descriptor = HIDReportDescriptor(builder.bytes + tail)
    #expect(descriptor.isDamaged == !tail.isEmpty)
    #expect(descriptor.fields.count == 1)
  }

  @Test func nestingIsBounded() {
    for item in [0xA1, 0xA4] as [UInt8] {
      let bytes = [UInt8](repeating: 0, count: 4096).indices.map {
        item == 0xA1 ? ($0 % 2 == 0 ? item : 1) : item
      }
      #expect(HIDReportDescriptor(bytes).isDamaged)
    }
  }

  @Test func randomBytesAreParsedInBoundedTime() {
    var generator = SeededGenerator.forTest()
    let start = processorMilliseconds()
    var isBounded = true
    for round in 0..<60 {
      // Half the rounds use only tags that have an effect.
      let tags: [UInt8] = [0x05, 0x09, 0x19, 0x29, 0x15, 0x25, 0x75, 0x95, 0x81, 0xB1, 0x85, 0xA1]
      let bytes: [UInt8] = (0..<4096).map { index in
        if round % 2 == 0 || index % 2 == 1 { return UInt8.random(in: 0...255, using: &generator) }
        return tags.randomElement(using: &generator)!
      }
      let descriptor = HIDReportDescriptor(bytes)
      let report = [UInt8](repeating: 0xA5, count: 64)
      for field in descriptor.fields {
        isBounded = isBounded && field.bitOffset + field.bitSize * field.count <= 16384 * 8
        _ = field.physicalValue(in: report, element: field.count - 1)
        _ = field.raw(nearestTo: 0.01)
        _ = field.usage(of: field.count - 1)
      }
    }
    #expect(isBounded)
    #expect(processorMilliseconds() - start < 5000)
  }

  /// The CPU time of this thread, which does not depend on how busy the machine is.
  private func processorMilliseconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) * 1e-6
  }
}
