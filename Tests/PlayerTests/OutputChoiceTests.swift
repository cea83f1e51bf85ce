// SPDX-License-Identifier: Apache-2.0

import SoundServer
import TestSupport
import Testing

@testable import Laboratory
@testable import Playback
@testable import Rendering
@testable import SoundSources

/// The choice between PipeWire and PulseAudio, and a player on PipeWire.
@Suite(.serialized) struct OutputChoiceTests {
  @Test(
    arguments: [
      (nil, nil, "/run/user/1", true),
      (nil, "", "/run/user/1", true),
      (nil, nil, nil, true),
      (nil, "unix:/run/user/1/pulse/native", "/run/user/1", true),
      (nil, "/run/user/1/pulse/native", "/run/user/1", true),
      (nil, "unix:/run/user/2/pulse/native", "/run/user/1", false),
      (nil, "unix:/run/user/1/pulse/native", nil, false),
      (nil, "tcp:192.0.2.1", "/run/user/1", false),
      (nil, "unix:/run/user/1/pulse/native tcp:192.0.2.1", "/run/user/1", false),
      ("unix:/run/user/1/pulse/native", nil, "/run/user/1", false),
    ] as [(String?, String?, String?, Bool)])
  func anotherServerIsRespected(
    address: String?, pulseServer: String?, folder: String?, isPermitted: Bool
  ) {
    #expect(
      SoundServerClient.permitsPipeWire(
        address: address, pulseServer: pulseServer, runtimeFolder: folder) == isPermitted)
  }

  @Test func explicitChoicesAreFollowed() {
    #expect(SoundServerClient(.pulseAudio, serverAddress: "a") == .pulseAudio("a"))
    #expect(SoundServerClient(.pipeWire, serverAddress: "b") == .pipeWire("b"))
    #expect(SoundServerClient(.automatic, serverAddress: "c") == .pulseAudio("c"))
    #expect(SoundServerClient(.pipeWire, serverAddress: nil) == .pipeWire(nil))
  }

  @Test func missingPipeWireIsExplained() {
    var options = PlayerOptions()
    options.output = .pipeWire
    options.serverAddress = "/nonexistent/pipewire-0"
    #expect {
      try Player(options: options) { rate throws(PlaybackError) in DemoScene(sampleRate: rate) }
    } throws: {
      let text = "\($0)"
      return text.contains("/nonexistent/pipewire-0") && text.contains("PulseAudio")
        && !text.contains("\n") && !text.contains("--")
    }
  }

  @Test(
    .enabled(
      if: PrivatePipeWireServer.missingPackage == nil,
      "needs the Debian package '\(PrivatePipeWireServer.missingPackage ?? "")'"))
  func playerFollowsTheRouteOnPipeWire() throws {
    try PrivatePipeWireServer.withServer { server in
      _ = try server.loadSink("speaker", properties: "device.form_factor=speaker")
      var options = PlayerOptions()
      options.output = .pipeWire
      options.serverAddress = server.socketPath
      options.head = .none
      let player = try Player(options: options) { rate throws(PlaybackError) in
        DemoScene(sampleRate: rate)
      }
      defer { player.stop() }
      try player.start()
      #expect(waitUntil(seconds: 5) { player.status.state == .playing && player.position > 0.5 })
      let status = player.status.output
      #expect(status.serverName == "PipeWire")
      #expect(status.sinkName == "ears")
      #expect(status.rewriting == .unsupportedBySource)
      #expect(player.routeDecision.treatment == .binaural)
      // Nothing changes the sound while it plays, so that the cycles may be long.
      #expect(status.queueMilliseconds > 20)
      try server.pactl(["set-default-sink", "speaker"])
      #expect(waitUntil(seconds: 5) { player.routeDecision.treatment == .plainStereo })
      #expect(player.routeDecision.reason == .loudspeakers)
      player.pause()
      #expect(waitUntil(seconds: 5) { player.status.output.state == .paused })
      player.seek(toSeconds: 10)
      player.resume()
      #expect(waitUntil(seconds: 5) { player.position > 10.3 && player.status.state == .playing })
      #expect(player.position < 12)
      server.kill()
      #expect(waitUntil(seconds: 5) { player.status.state == .waitingForOutput })
      try server.restart()
      #expect(waitUntil(seconds: 5) { player.status.state == .playing })
    }
  }

  @Test(
    .enabled(
      if: PrivatePipeWireServer.missingPackage == nil,
      "needs the Debian package '\(PrivatePipeWireServer.missingPackage ?? "")'"))
  func routesAreReportedOnPipeWire() throws {
    try PrivatePipeWireServer.withServer { server in
      let monitor = try RouteMonitor(output: .pipeWire, serverAddress: server.socketPath) { _ in }
      defer { monitor.stop() }
      #expect(waitUntil(seconds: 5) { monitor.routes.count == 1 })
      _ = try server.loadSink("speaker", properties: "device.form_factor=speaker")
      #expect(waitUntil(seconds: 5) { monitor.routes.count == 2 })
      #expect(monitor.routes.first { $0.facts.sink == "speaker" }?.isSpatial == false)
      #expect(monitor.routes.first { $0.facts.sink == "ears" }?.isDefault == true)
    }
  }
}
