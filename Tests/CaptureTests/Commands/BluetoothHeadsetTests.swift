// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Laboratory
import System
import TestSupport
import Testing

/// A PulseAudio server with a Bluetooth headset (`Tests/Fixtures/bluetooth_headset.py`) and a
/// microphone of another kind.
private struct HeadsetPlace {
  static let card = "bluez_card.00_11_22_33_44_55"
  static let program = "\(ProgramRun.builtProducts)/stillstage"

  static let isPossible: Bool = {
    guard CompiledFixture.isPossible else { return false }
    let needed = try? ProgramRun.of(
      "sh",
      [
        "-c",
        """
        /usr/bin/python3 -c 'import dbus, gi' && command -v dbus-daemon &&
        find /usr/lib/pulse-*/modules /usr/lib/*/pulse-*/modules -name module-bluez5-discover.so |
        grep -q . && ldconfig -p | grep -q libsbc.so.1
        """,
      ])
    return needed?.exitCode == 0
  }()

  let folder = TemporaryFolder()
  let server: PrivatePulseServer
  let microphone: VirtualMicrophone
  private let bus: RunningProgram
  private let headset: RunningProgram

  /// - Parameters:
  ///   - codecs: those of the hands-free profile: "1" or "1,2".
  ///   - hasLink: whether the link to the microphone works.
  init(codecs: String, hasLink: Bool = true) throws {
    let socket = folder.file("bus")
    let configuration = try folder.write(
      """
      <busconfig><type>system</type><listen>unix:path=\(socket)</listen>
      <policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/>
      <allow receive_sender="*"/></policy></busconfig>
      """, to: "bus.conf")
    bus = try RunningProgram(
      ["dbus-daemon", "--config-file=\(configuration)", "--nofork", "--nopidfile"])
    try #require(isTrue(within: 20_000) { access(socket, F_OK) == 0 })
    let address = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=" + socket]
    headset = try RunningProgram(
      ["/usr/bin/python3", "\(CompiledFixture.root)/Tests/Fixtures/bluetooth_headset.py", codecs],
      environment: address.mapValues { $0 }, input: .pipe)
    _ = try headset.line(with: "ready")
    var form = PrivatePulseServer.Form()
    form.environment = address
    form.modules = ["module-bluez5-discover"]
    if hasLink { form.preloadedLibrary = try CompiledFixture.headsetLink.get() }
    server = try PrivatePulseServer(form)
    var other = VirtualMicrophone.Form()
    other.channels = 2
    microphone = try VirtualMicrophone(server, other)
    try server.pactl(["set-default-source", "mic"])
    let server = server
    try #require(
      isTrue(within: 15_000) {
        let cards = (try? server.pactl(["list", "cards"])) ?? ""
        return cards.contains("available: yes)\n\t\toff")
          && cards.contains("Active Profile: a2dp_sink")
      }, "\((try? server.pactl(["list", "cards"])) ?? "")")
  }

  func disconnect() { headset.type("disconnect\n") }

  var environment: [String: String?] {
    [
      "PULSE_SERVER": server.address, "XDG_STATE_HOME": folder.file("state"),
      "XDG_CONFIG_HOME": folder.file("config"),
    ]
  }

  func run(_ arguments: [String]) throws -> ProgramRun {
    try ProgramRun.of(Self.program, arguments, environment: environment)
  }

  func start(_ arguments: [String]) throws -> RunningProgram {
    try RunningProgram([Self.program] + arguments, environment: environment)
  }

  /// The active profile of the headset.
  var profile: String {
    let cards = (try? server.pactl(["list", "cards"])) ?? ""
    let lines = cards.split(separator: "\n").filter { $0.contains("Active Profile: ") }
    return lines.last.map { String($0.dropFirst("\tActive Profile: ".count)) } ?? ""
  }

  /// The codec in use.
  var codec: String {
    let answer = try? server.pactl(["send-message", "/card/\(Self.card)/bluez", "get-codec"])
    return (answer ?? "").filter { $0.isLetter }
  }

  var hasEventOff: Bool { log.contains(#""state":"off""#) }
  var log: String {
    let bytes = try? SystemFile.contents(folder.file("events.jsonl"), limit: 1 << 20)
    return String(decoding: bytes ?? [], as: UTF8.self)
  }

  func stop() {
    microphone.stop()
    server.stop()
  }
}

extension CaptureServerTests {
  @Suite(
    .serialized,
    .enabled(
      if: HeadsetPlace.isPossible,
      "pulseaudio-module-bluetooth, python3-dbus, python3-gi or a C compiler is missing"))
  struct BluetoothHeadsetTests {
    /// Expects the headset's tone of 440 Hz.
    private func expectTone(_ path: String, rate: Int) throws {
      let wave = try FloatWAV(reading: path)
      #expect(wave.rate == rate)
      #expect(wave.channels.count == 1)
      let sound = wave.channels[0].suffix(rate / 2).map(Double.init)
      try #require(sound.count == rate / 2)
      func power(_ hertz: Double) -> Double {
        let step = 2 * Double.pi * hertz / Double(rate)
        var (real, imaginary) = (0.0, 0.0)
        for (index, value) in sound.enumerated() {
          real += value * cos(step * Double(index))
          imaginary += value * sin(step * Double(index))
        }
        return real * real + imaginary * imaginary
      }
      #expect(power(440) > 100 * power(700))
      let level = (sound.reduce(0) { $0 + $1 * $1 } / Double(sound.count)).squareRoot()
      #expect(abs(level - 8000 / 32_768 / 2.0.squareRoot()) < 0.02, "\(level)")
    }

    @Test(arguments: zip(["1", "1,2"], [8000, 16_000]))
    func theMicrophoneIsRecordedWithTheBestCodec(_ codecs: String, _ rate: Int) throws {
      let place = try HeadsetPlace(codecs: codecs)
      defer { place.stop() }
      let path = place.folder.file("a.wav")
      let run = try place.run([
        "record", "-o", path, "--bluetooth", "best", "--seconds", "1.5", "--codec", "float",
      ])
      #expect(run.exitCode == 0, "\(run.errors)")
      try expectTone(path, rate: rate)
      #expect(place.profile == "a2dp_sink")
      #expect(place.codec == "sbc")
      let left = SystemFile.names(in: place.folder.file("state/stillstage")) ?? []
      #expect(left.allSatisfy { !$0.hasPrefix("capture") }, "\(left)")
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func theProfileIsRestoredAfterASignal(_ signal: Int32) throws {
      let place = try HeadsetPlace(codecs: "1,2")
      defer { place.stop() }
      let program = try place.start([
        "record", "-o", place.folder.file("a.wav"), "--bluetooth", "hfp", "--codec", "float",
      ])
      #expect(isTrue(within: 8000) { place.profile == "handsfree_head_unit" })
      #expect(isTrue(within: 3000) { place.codec == "mSBC" }, "\(place.codec)")
      sleepMilliseconds(1000)
      kill(program.pid, signal)
      _ = program.wait(seconds: 8)
      if signal == SIGKILL {
        #expect(place.profile == "handsfree_head_unit")
        let next = try place.run(["record", "-o", place.folder.file("b.wav"), "--seconds", "0.3"])
        #expect(next.exitCode == 0, "\(next.errors)")
      }
      #expect(place.profile == "a2dp_sink")
      #expect(place.codec == "sbc")
    }

    @Test func aRefusedProfileIsReplaced() throws {
      let place = try HeadsetPlace(codecs: "1", hasLink: false)
      defer { place.stop() }
      let path = place.folder.file("a.wav")
      let run = try place.run([
        "record", "-o", path, "--bluetooth", "best", "--seconds", "0.5", "--codec", "float",
      ])
      #expect(run.exitCode == 0, "\(run.errors)")
      #expect(run.errors.contains("the server refused the profile"), "\(run.errors)")
      #expect(try FloatWAV(reading: path).channels.count == 2)
      #expect(place.profile == "a2dp_sink")
    }

    @Test func aHeadsetThatDisconnectsEndsListening() throws {
      let place = try HeadsetPlace(codecs: "1")
      defer { place.stop() }
      let path = place.folder.file("a.wav")
      let program = try place.start([
        "record", "-o", path, "--input", "mic", "--codec", "float", "--tracker", "none",
        "--listen", "auto", "--sink", "bluez_sink.00_11_22_33_44_55.a2dp_sink", "--events",
        place.folder.file("events.jsonl"),
      ])
      #expect(
        isTrue(within: 20_000) { place.log.contains(#""state":"on""#) },
        "\(program.lines.map(\.text))")
      sleepMilliseconds(1000)
      place.disconnect()
      let begin = monotonicNow()
      #expect(isTrue(within: 3000) { place.hasEventOff })
      let milliseconds = Double(monotonicNow() - begin) * 1e-6
      print("headset disconnected: listening has ended after \(milliseconds) ms")
      #expect(milliseconds < 200)
      sleepMilliseconds(1000)
      kill(program.pid, SIGTERM)
      #expect(program.wait(seconds: 5) == 143)
      #expect(program.lines.contains { $0.text.contains("gaps 0 (0.000 s)") })
      #expect(try FloatWAV(reading: path).channels[0].count > 96_000)
    }
  }
}
