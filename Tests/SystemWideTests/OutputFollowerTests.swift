// SPDX-License-Identifier: Apache-2.0

import SoundServer
import TestSupport
import Testing

@testable import Playback

@Suite struct OutputFollowerTests {
  private let box = Sink("box", port: .speaker)
  private let jack = Sink("jack", port: .headphones)
  private let usb = Sink("usb")
  private let ours = Sink("stillstage-7.1")

  /// The sink after each of these reports.
  private func sinks(
    _ reports: [ServerContents], from follower: OutputFollower = OutputFollower()
  ) -> [String?] {
    var follower = follower
    return reports.map { report in
      follower.follow(report)
      return follower.sink
    }
  }

  @Test func defaultSinkIsFollowedUntilOursReplacesIt() {
    let reports = [
      ServerContents([box, usb], default: "usb"), ServerContents([box, usb, ours], default: "usb"),
      ServerContents([box, usb, ours], default: ours.name),
    ]
    #expect(sinks(reports) == ["usb", "usb", "usb"])
  }

  @Test func userChoosesAnotherOutputByTheDefaultSink() {
    var follower = OutputFollower()
    let all = [box, usb, ours]
    for name in ["usb", ours.name, "box", ours.name] {
      follower.follow(ServerContents(all, default: name))
    }
    #expect(follower.sink == "box" && follower.realDefault == "box")
    #expect(follower.sinkToRestore(in: ServerContents(all, default: ours.name)) == "box")
    #expect(follower.sinkToRestore(in: ServerContents([usb, ours], default: nil)) == nil)
  }

  @Test func headphonesAreFollowedAndLeft() {
    let without = ServerContents([box, ours], default: ours.name)
    let with = ServerContents([box, jack, ours], default: ours.name)
    let reports = [ServerContents([box], default: "box"), without, with, with, without, with]
    #expect(sinks(reports) == ["box", "box", "jack", "jack", "box", "jack"])
  }

  @Test func portOfAnotherSinkCountsAsHeadphones() {
    var plugged = Sink("card", port: .headphones)
    var unplugged = plugged
    plugged.ports[0].isAvailable = true
    unplugged.ports[0].isAvailable = false
    let reports = [unplugged, plugged, unplugged].map {
      ServerContents([usb, $0, ours], default: ours.name)
    }
    #expect(
      sinks([ServerContents([usb, unplugged], default: "usb")] + reports)
        == ["usb", "usb", "card", "usb"])
  }

  @Test func bluetoothSinkCountsAsHeadphonesUnlessItIsALoudspeaker() {
    var buds = Sink("bluez_output.1")
    buds.bluetoothAddress = "AA:BB:CC:DD:EE:FF"
    var speaker = buds
    speaker.formFactor = "speaker"
    #expect(buds.leadsToHeadphones && !speaker.leadsToHeadphones)
    let start = ServerContents([box], default: "box")
    let last = { (sink: Sink) in
      [start, ServerContents([self.box, sink, self.ours], default: self.ours.name)]
    }
    #expect(sinks(last(buds)) == ["box", "bluez_output.1"])
    #expect(sinks(last(speaker)) == ["box", "box"])
  }

  @Test func namedSinkIsUsedWhileItExists() {
    let follower = OutputFollower(named: "usb")
    let reports = [
      ServerContents([box], default: "box"), ServerContents([box, usb], default: "box"),
      ServerContents([box, usb, jack], default: "box"), ServerContents([box], default: "box"),
    ]
    #expect(sinks(reports, from: follower) == ["box", "usb", "usb", "box"])
  }

  @Test func defaultThatTheServerChoseIsNoChoice() {
    // The user's output disappears, the server makes another sink the default, and it comes back.
    let reports = [
      ServerContents([box, usb], default: "usb"), ServerContents([box], default: "box"),
      ServerContents([box, usb], default: "box"),
    ]
    #expect(sinks(reports) == ["usb", "box", "usb"])
  }

  @Test func restartOfTheServerKeepsTheChoice() {
    let reports = [
      ServerContents([box, usb], default: "box"),
      ServerContents([box, usb, ours], default: "usb"),
      ServerContents([box, usb, ours], default: ours.name), ServerContents(),
      ServerContents([box, usb], default: "box"),
      ServerContents([box, usb, ours], default: ours.name),
    ]
    #expect(sinks(reports) == ["box", "usb", "usb", "usb", "usb", "usb"])
  }

  @Test func defaultOfAKilledInstanceIsRestored() {
    var follower = OutputFollower(previousDefault: "usb")
    let left = ServerContents([box, usb, ours], default: ours.name)
    follower.follow(left)
    #expect(follower.sink == "usb" && follower.sinkToRestore(in: left) == "usb")
    // The user has chosen another default since.
    var other = OutputFollower(previousDefault: "usb")
    other.follow(ServerContents([box, usb], default: "box"))
    #expect(other.sink == "box" && other.realDefault == "box")
    #expect(OutputFollower(previousDefault: ours.name).realDefault == nil)
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func anyExistingRealSinkIsAlwaysFoundAndNeverOneOfOurs(seed: UInt64) {
    var random = SeededGenerator(seed)
    var follower = OutputFollower(named: Bool.random(using: &random) ? "usb" : nil)
    for _ in 0..<300 {
      let present = [box, jack, usb, ours, Sink("stillstage-stereo")].filter { _ in
        Bool.random(using: &random)
      }
      let report = ServerContents(
        present, default: present.randomElement(using: &random)?.name)
      follower.follow(report)
      let real = present.map(\.name).filter { !SinkLayout.isOurs($0) }
      if let sink = follower.sink {
        #expect(!SinkLayout.isOurs(sink))
        #expect(real.isEmpty || real.contains(sink))
      } else {
        #expect(real.isEmpty)
      }
      if let sink = follower.realDefault { #expect(!SinkLayout.isOurs(sink)) }
    }
  }
}
