// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import MIDITracking

/// A folder with the kernel's files for a USB MIDI device: a card with number 3 and a raw MIDI
/// device.
///
/// The folder also serves as `UMOCKDEV_DIR` of umockdev, so that a program sees the files in /proc,
/// /sys and /dev.
final class SimulatedCard {
  let folder = TemporaryFolder()
  let ports: SystemPorts
  /// umockdev connects to this socket when a device is opened, for calls of ioctl. The program
  /// makes none, so nobody answers.
  private let calls: Int32

  /// The path of the raw MIDI device.
  var node: String { folder.file("dev/snd/midiC3D0") }

  static let clients = """
    Client info
      cur  clients : 4
      peak clients : 5
      max  clients : 192

    Client   0 : "System" [Kernel Legacy]
      Port   0 : "Timer" (Rwe-) [In/Out]
      Port   1 : "Announce" (R-e-) [In/Out]
        Connecting To: 15:0
    Client  14 : "Midi Through" [Kernel Legacy]
      Port   0 : "Midi Through Port-0" (RWe-)
    Client  28 : "Head "quoted" (R) Tracker" [Kernel]
      Port   0 : "Head Tracker MIDI 1" (RWeX) [In/Out]
        Connecting To: 129:0
      Port   1 : "Only in" (-We-) [Out]
    Client 129 : "MrHeadTracker" [User Legacy]
      Port   2 : "out" (R---)

    """

  init(hasSequencer: Bool) throws {
    calls = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    ports = SystemPorts(
      processFolder: folder.file("proc/asound"), soundFolder: folder.file("sys/class/sound"),
      deviceFolder: folder.file("dev/snd"))
    let device = "sys/devices/usb/1-2"
    for path in [
      "proc/asound/seq", "proc/asound/card3", "sys/class/sound/card3", "sys/class/sound/midiC3D0",
      "\(device)/1-2:1.0", "dev/snd", "ioctl",
    ] {
      try #require(system("mkdir -p '\(folder.file(path))'") == 0)
    }
    if hasSequencer { try folder.write(Self.clients, to: "proc/asound/seq/clients") }
    try folder.write("MIDI one\n\nOutput 0\n", to: "proc/asound/card3/midi0")
    try folder.write("Tracker\n", to: "sys/class/sound/card3/id")
    let texts = [
      ("idVendor", "1d6b"), ("idProduct", "0106"), ("serial", "S\u{1B}1"),
      ("product", "Head Tracker"),
    ]
    for (name, text) in texts { try folder.write(text + "\n", to: "\(device)/\(name)") }
    try #require(
      symlink(folder.file("\(device)/1-2:1.0"), folder.file("sys/class/sound/card3/device")) == 0)
    try listenForCalls()
  }

  deinit { close(calls) }

  private func listenForCalls() throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array(folder.file("ioctl/_default").utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let isListening = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(calls, $0, size) == 0 && listen(calls, 100) == 0
      }
    }
    try #require(isListening)
  }
}

/// A pseudo-terminal that stands for a raw MIDI device.
final class RawDevice {
  private let master: Int32
  private let node: String

  init(_ node: String) throws {
    self.node = node
    var (master, terminal): (Int32, Int32) = (-1, -1)
    try #require(openpty(&master, &terminal, nil, nil, nil) == 0)
    self.master = master
    defer { close(terminal) }
    let name = String(cString: ttyname(terminal))
    _ = fcntl(master, F_SETFL, O_NONBLOCK)
    var mode = termios()
    tcgetattr(terminal, &mode)
    cfmakeraw(&mode)
    tcsetattr(terminal, TCSANOW, &mode)
    try #require(symlink(name, node) == 0)
  }

  func send(_ bytes: [UInt8]) { _ = write(master, bytes, bytes.count) }

  /// Returns what the host has sent since the last call.
  func received() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(master, &buffer, buffer.count)
    return count > 0 ? Array(buffer[..<count]) : []
  }

  /// Returns whether exactly these bytes arrive.
  func received(_ bytes: [UInt8]) -> Bool {
    var found: [UInt8] = []
    return waitUntil(seconds: 5) {
      found += received()
      return found == bytes
    }
  }

  func unplug() {
    unlink(node)
    close(master)
  }
}
