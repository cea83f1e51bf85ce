// SPDX-License-Identifier: Apache-2.0

import MIDITracking
import TestSupport
import Testing

@testable import CommandSupport
@testable import UserFiles

/// The settings of MIDI trackers in `config.json`.
@Suite struct MIDIConfigTests {
  private func settings(_ text: String?) throws -> MIDISettings {
    let folder = TemporaryFolder()
    if let text { try folder.write(text, to: "config.json") }
    return MIDISettings(try ConfigFile.midi(in: UserFolder(path: folder.path)))
  }

  @Test func withoutSettingsTheDefaultsApply() throws {
    for text in [nil, "{}", #"{"midi": {}, "order": 3}"#, #"{"midi": {"supperware": {}}}"#] {
      #expect(try settings(text) == MIDISettings())
    }
  }

  @Test func settingsReachTheTrackers() throws {
    let found = try settings(
      """
      {"midi": {"supperware": {"rate": 50, "compass": "on", "cable": "left", "zero": true,
       "shake": false}, "mrheadtracker": {"form": "angles", "inverse": false}}}
      """)
    var expected = MIDISettings()
    (expected.supperware.rateHertz, expected.supperware.compass) = (50, .on)
    (expected.supperware.cable, expected.supperware.zeroes) = (.left, true)
    expected.supperware.shakeZeroes = false
    (expected.mrHeadTracker.form, expected.mrHeadTracker.isInverse) = (.angles, false)
    #expect(found == expected)
  }

  @Test func aBadValueIsNamedWithThePermittedOnes() {
    let cases = [
      (#"{"supperware": {"rate": 25}}"#, "'midi.supperware.rate' is '25', but must be 50 or 100"),
      (
        #"{"supperware": {"cable": "up"}}"#,
        "'midi.supperware.cable' is 'up', but must be left, right or keep"
      ),
      (#"{"mrheadtracker": {"form": "x"}}"#, "but must be auto, quaternion or angles"),
      (#"{"supperware": {"zero": "yes"}}"#, "zero"),
    ]
    for (text, reason) in cases {
      let error = #expect(throws: UserFileError.self) { try settings("{\"midi\": \(text)}") }
      #expect(error?.description.contains(reason) == true)
    }
  }

  @Test func theObjectIsNoOption() throws {
    let text = #"{"midi": {"supperware": {"rate": 50}}, "order": 3}"#
    #expect(try ConfigFile.texts(Array(text.utf8), path: "c") == ["order": "3"])
  }
}
