// SPDX-License-Identifier: Apache-2.0

import Glibc
import Laboratory
import TestSupport
import Testing

extension CaptureServerTests {
  /// Tests recordings that media keys control, on a private session bus.
  @Suite(.serialized) struct MediaKeyTests {
    /// Starts a session bus in a folder.
    private func bus(in folder: TemporaryFolder) throws -> (daemon: RunningProgram, address: String)
    {
      let socket = folder.file("bus")
      let configuration = try folder.write(
        """
        <busconfig><type>session</type><listen>unix:path=\(socket)</listen>
        <policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/>
        <allow receive_sender="*"/>
        </policy></busconfig>
        """, to: "bus.conf")
      let daemon = try RunningProgram(
        ["dbus-daemon", "--config-file=\(configuration)", "--nofork", "--nopidfile"])
      try #require(isTrue(within: 20_000) { access(socket, F_OK) == 0 })
      return (daemon, "unix:path=\(socket)")
    }

    /// Presses a media key: calls a method of the player, and returns whether it answered.
    private func press(_ key: String, _ pid: pid_t, _ address: String) throws -> Bool {
      let run = try ProgramRun.of(
        "dbus-send",
        [
          "--bus=\(address)", "--print-reply",
          "--dest=org.mpris.MediaPlayer2.stillstage.instance\(pid)", "/org/mpris/MediaPlayer2",
          "org.mpris.MediaPlayer2.Player.\(key)",
        ])
      return run.exitCode == 0
    }

    @Test("An armed recording starts, pauses and ends when media keys are pressed")
    func keys() throws {
      try PrivatePulseServer.withServer { server in
        let folder = TemporaryFolder()
        let (daemon, address) = try bus(in: folder)
        let microphone = try VirtualMicrophone(server)
        defer { microphone.stop() }
        let path = folder.file("a.wav")
        let program = try RunningProgram(
          [
            "\(ProgramRun.builtProducts)/stillstage-engine", "record", "-o", path, "--input", "mic",
            "--mic-format", "ambix", "--codec", "float", "--armed",
          ],
          environment: [
            "PULSE_SERVER": server.address, "DBUS_SESSION_BUS_ADDRESS": address,
            "XDG_STATE_HOME": folder.file("state"),
          ])
        sleepMilliseconds(1500)
        #expect(try press("PlayPause", program.pid, address))
        sleepMilliseconds(1500)
        #expect(try press("PlayPause", program.pid, address))
        sleepMilliseconds(1200)
        #expect(try press("Stop", program.pid, address))
        #expect(program.wait(seconds: 5) == 0)
        let frames = try FloatWAV(reading: path).channels[0].count
        #expect(abs(Double(frames) / 48_000 - 1.5) < 0.4)
        withExtendedLifetime(daemon) {}
      }
    }

    @Test(
      "Without a terminal and a session bus, an armed recording explains that nothing starts it")
    func nothingStartsIt() throws {
      try PrivatePulseServer.withServer { server in
        let folder = TemporaryFolder()
        let microphone = try VirtualMicrophone(server)
        defer { microphone.stop() }
        let run = try ProgramRun.of(
          "\(ProgramRun.builtProducts)/stillstage",
          [
            "record", "-o", folder.file("a.wav"), "--input", "mic", "--mic-format", "ambix",
            "--armed",
          ],
          environment: [
            "PULSE_SERVER": server.address,
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent",
            "XDG_STATE_HOME": folder.file("state"),
          ])
        #expect(run.exitCode == 1)
        #expect(run.errors.contains("omit '--armed'"))
        #expect(access(folder.file("a.wav"), F_OK) != 0)
      }
    }
  }
}
