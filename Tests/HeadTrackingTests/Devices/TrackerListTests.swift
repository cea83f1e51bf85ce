// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing

@testable import HeadTracking

@Suite struct TrackerListTests {
  private func tracker(
    _ path: String, serial: String, product: String = "Headphones", pid: UInt16 = 0x0104
  ) -> TrackerDescription {
    TrackerDescription(
      path: path, vendorID: 0x1D6B, productID: pid, serial: serial, manufacturer: "",
      product: product, bus: .usb, protocolDescription: "#AndroidHeadTracker#1.0",
      kind: .head, access: .ready, id: "")
  }

  private var list: TrackerList {
    TrackerList(trackers: [
      tracker("/dev/hidraw0", serial: "A1"), tracker("/dev/hidraw1", serial: "B2"),
      tracker("/dev/hidraw2", serial: "", product: "Studio Tracker", pid: 0x0200),
      tracker("/dev/hidraw3", serial: "dup", pid: 0x0300),
      tracker("/dev/hidraw4", serial: "dup", pid: 0x0300),
    ])
  }

  @Test func identifiersAreUniqueAndWithoutBlanks() {
    #expect(
      list.trackers.map(\.id) == ["A1", "B2", "/dev/hidraw2", "/dev/hidraw3", "/dev/hidraw4"])
  }

  @Test(arguments: [
    ("/dev/hidraw1", "/dev/hidraw1"), ("b2", "/dev/hidraw1"), ("1D6B:0200", "/dev/hidraw2"),
    ("studio", "/dev/hidraw2"), ("/dev/hidraw4", "/dev/hidraw4"),
  ])
  func matchesByPathSerialProductIDOrName(id: String, path: String) throws {
    #expect(try list.match(id).path == path)
  }

  @Test func errorsForUnclearIdentifiersListTheTrackers() {
    #expect {
      try list.match("headphones")
    } throws: {
      let text = "\($0)"
      return text.contains("several") && text.contains("A1 (Headphones)") && text.contains("B2")
        && !text.contains("Studio")
    }
    #expect {
      try list.match("nothing")
    } throws: {
      "\($0)".contains("no head tracker matches 'nothing'; choose from: A1 (Headphones)")
    }
    #expect(throws: HeadTrackingError.unknownTracker("", available: [])) {
      try TrackerList(trackers: []).match("")
    }
  }

  @Test func udevRuleNamesTheDevice() {
    var device = tracker("/dev/hidraw0", serial: "A1")
    device.access = .permissionDenied
    #expect(device.udevRule?.contains("KERNELS==\"0003:1D6B:0104.*\"") == true)
    let text = device.accessError.map { "\($0)" } ?? ""
    #expect(text.contains("/dev/hidraw0") && text.contains("uaccess") && !text.contains("\n"))
    for (bus, number) in [(TrackerBus.bluetooth, "0005"), (.i2c, "0018"), (.spi, "001C")] {
      device.bus = bus
      #expect(device.udevRule?.contains("KERNELS==\"\(number):1D6B:0104.*\"") == true)
    }
  }

  @Test func errorOfADeviceGivesItsAdviceOnce() {
    var device = tracker("/dev/hidraw0", serial: "A1")
    device.access = .failed(HeadTrackingError.featureFailed(report: 2, reason: "no answer").cause)
    #expect(
      device.accessError.map { "\($0)" }
        == "cannot open /dev/hidraw0: the head tracker's report 2 failed: no answer; "
        + "reconnect the tracker or choose another")
  }

  @Test func deviceThatDoesNotAnswerHoldsUpNothing() throws {
    let inquiries = DeviceInquiries<Int>()
    let calls = Atomic(0)
    let questions = [300_000, 0, 20_000].enumerated().map { index, wait in
      DeviceInquiries<Int>.Question(key: "\(index)") {
        if index == 0 { calls.add(1, ordering: .relaxed) }
        usleep(useconds_t(wait))
        return index
      }
    }
    let clock = ContinuousClock()
    func ask(_ milliseconds: Int64, isEnough: ([Int?]) -> Bool = { _ in false }) -> ([Int?], Double)
    {
      let start = clock.now
      let answers = inquiries.answers(
        to: questions, milliseconds: milliseconds, isEnough: isEnough)
      return (answers, (clock.now - start) / .seconds(1))
    }
    let first = ask(100)
    #expect(first.0 == [nil, 1, 2] && (0.1..<0.2).contains(first.1))
    // The first device is still asked, so it is neither waited for nor asked again.
    let second = ask(1000)
    #expect(second.0 == [nil, 1, 2] && second.1 < 0.1)
    #expect(calls.load(ordering: .relaxed) == 1)
    usleep(300_000)
    #expect(ask(1000).0 == [0, 1, 2])
    #expect(calls.load(ordering: .relaxed) == 2)
    usleep(10_000)
    let early = ask(1000, isEnough: { $0[1] != nil })
    #expect(early.0[1] == 1 && early.1 < 0.1)
  }
}
