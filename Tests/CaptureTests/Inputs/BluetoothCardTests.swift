// SPDX-License-Identifier: Apache-2.0

import PulseAudio
import SoundServer
import Testing

@testable import Capture

struct BluetoothCardTests {
  private static func card(
    _ profiles: [(name: String, hasMicrophone: Bool, isAvailable: Bool, priority: Int)]
  ) -> BluetoothCard {
    BluetoothCard(
      name: "bluez_card.00_11_22_33_44_55", description: "Headset",
      profiles: profiles.map {
        BluetoothCard.Profile(
          name: $0.name, hasMicrophone: $0.hasMicrophone, isAvailable: $0.isAvailable,
          priority: $0.priority)
      }, activeProfile: "a2dp_sink")
  }

  @Test func theAvailableProfileWithTheHighestPriorityIsChosen() {
    let card = Self.card([
      ("a2dp_sink", false, true, 40), ("handsfree_head_unit", true, true, 30),
      ("headset_head_unit", true, true, 20), ("off", false, true, 0),
    ])
    #expect(card.microphoneProfile(handsFreeOnly: false)?.name == "handsfree_head_unit")
    #expect(card.microphoneProfile(handsFreeOnly: true)?.name == "handsfree_head_unit")
  }

  @Test func aDuplexProfileIsBetterUnlessHandsFreeIsWanted() {
    let card = Self.card([
      ("a2dp-sink-duplex", true, true, 50), ("headset-head-unit-msbc", true, true, 30),
    ])
    #expect(card.microphoneProfile(handsFreeOnly: false)?.name == "a2dp-sink-duplex")
    #expect(card.microphoneProfile(handsFreeOnly: true)?.name == "headset-head-unit-msbc")
  }

  @Test func unavailableProfilesAndLoudspeakersAreNotChosen() {
    let card = Self.card([("a2dp_sink", false, true, 40), ("handsfree_head_unit", true, false, 30)])
    #expect(card.microphoneProfile(handsFreeOnly: false) == nil)
  }

  @Test(arguments: [
    (["CVSD", "mSBC"], "mSBC"), (["mSBC", "CVSD"], "mSBC"), (["CVSD"], "CVSD"),
    (["cvsd", "msbc", "lc3_swb"], "lc3_swb"),
  ])
  func theBestCodecIsChosen(_ names: [String], _ best: String) {
    let codecs = names.map { BluetoothCard.Codec(name: $0, description: $0) }
    #expect(BluetoothCard.best(of: codecs)?.name == best)
    // PipeWire's names are numbers.
    let numbered = names.enumerated().map {
      BluetoothCard.Codec(name: "\(256 + $0.offset)", description: $0.element)
    }
    #expect(BluetoothCard.best(of: numbered)?.description == best)
  }

  @Test func anUnknownCodecIsNotChosen() {
    #expect(BluetoothCard.best(of: [BluetoothCard.Codec(name: "1", description: "SBC")]) == nil)
  }

  @Test func inputsSupportTheModesThatKeepTheirMeaning() {
    func modes(_ channels: Int, monitor: String? = nil) -> [MicrophoneMode] {
      var source = Source()
      source.channelMap = (0..<channels).map { "aux\($0)" }
      source.monitoredSink = monitor
      return source.microphoneModes
    }
    #expect(modes(1) == [.standard, .voice])
    #expect(modes(2) == [.standard, .voice, .wide])
    #expect(modes(4) == [.standard, .wide])
    #expect(modes(2, monitor: "ears") == [.standard, .wide])
  }
}
