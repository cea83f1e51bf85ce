// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Laboratory
@testable import PulseAudio

@Suite struct ServerAddressTests {
  @Test(arguments: [
    ("unix:/run/native", false), ("/run/native", false), ("{abc}unix:/run/native", false),
    ("tcp:host:4713", true), ("host", true), ("tcp6:[::1]:4713", true),
  ])
  func remoteServersAreRecognised(address: String, isRemote: Bool) {
    #expect(isRemoteServer(address) == isRemote)
  }
}

extension ServerTests {
  @Suite(.serialized) struct RemoteSinkTests {
    /// Each channel has a constant level, which resampling keeps.
    @Test func channelsArriveInOrder() throws {
      try PrivatePulseServer.withServer { server in
        let playing = try PlayingSink(.surround51, on: server, isRemote: true)
        defer { playing.sink.stop() }
        let count = 6
        let sent = (0..<48_000 * 6 * count).map { Float($0 % count) * 0.1 }
        let program = try playing.play(sent, on: server)
        defer { withExtendedLifetime(program) {} }
        #expect(waitUntil(seconds: 5) { !playing.recorder.heard.isEmpty })
        sleepMilliseconds(1000)
        playing.recorder.forget()
        let missing = playing.sink.missingFrames
        sleepMilliseconds(1500)
        let samples = playing.recorder.samples
        print(
          "remote: \(samples.count / count) frames, \(playing.sink.missingFrames - missing) missing"
        )
        #expect(samples.count > 40_000 * count)
        for channel in 0..<count {
          let level = Float(channel) * 0.1
          let right = stride(from: channel, to: samples.count, by: count).count {
            abs(samples[$0] - level) < 1e-5
          }
          #expect(Double(right) > 0.9 * Double(samples.count / count))
        }
      }
    }
  }
}
