// SPDX-License-Identifier: Apache-2.0

import CRealtime
import CommandSupport
import Glibc
import Laboratory
import Synchronization

/// A connection to the virtual head tracker's control socket (Calibration/virtual-tracker).
final class VirtualHead: @unchecked Sendable {
  /// The environment variable with the socket's path.
  static let variable = "STILLSTAGE_VIRTUAL_TRACKER"

  private let descriptor: Int32
  private let lines = Mutex<[String]>([])
  private let hasEnded = Atomic(false)
  private var number = 0

  init(socketPath path: String) throws(CommandFailure) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0, Self.connects(descriptor, path) else {
      if descriptor >= 0 { close(descriptor) }
      throw CommandFailure("cannot connect to the virtual tracker at \(path); try again")
    }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    self.descriptor = descriptor
    listen()
    _ = try? tell("follow")
  }

  private static func connects(_ descriptor: Int32, _ path: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < room else { return false }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    for _ in 0..<1000 {
      let result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      if result == 0 { return true }
      usleep(5000)
    }
    return false
  }

  func tell(_ command: String) throws(CommandFailure) {
    guard write(command + "\n", to: descriptor) else { throw gone }
  }

  /// Turns the head and waits for the first report after the command.
  ///
  /// - Parameter meanwhile: called about every millisecond while waiting.
  /// - Returns: the CLOCK_MONOTONIC time just before that report was sent, in ns.
  func turn(toYaw yaw: Double, meanwhile: () -> Void) throws(CommandFailure) -> Int64 {
    // The tiny roll makes each command unique, but is too small to appear in a report.
    number += 1
    let command = "pose \(yaw) 0 \(Double(number) * 1e-9)"
    lines.withLock { $0.removeAll() }
    try tell(command)
    let end = monotonic_nanoseconds() + 2_000_000_000
    while monotonic_nanoseconds() < end {
      if let line = lines.withLock({ $0.first { $0.hasPrefix("mock: sent \(command) at ") } }),
        let time = line.split(separator: " ").last.flatMap({ Int64($0) })
      {
        return time
      }
      if hasEnded.load(ordering: .acquiring) { throw gone }
      meanwhile()
      usleep(1000)
    }
    throw CommandFailure("the virtual tracker sent no report within 2 s of a turn; try again")
  }

  private var gone: CommandFailure {
    CommandFailure("the virtual tracker ended unexpectedly; try again")
  }

  /// Closes the connection, which also ends the reading thread.
  func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  private func listen() {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { context in
        Unmanaged<VirtualHead>.fromOpaque(context!).takeRetainedValue().read()
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
    pthread_detach(thread)
  }

  private func read() {
    var pending: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = Glibc.read(descriptor, &part, part.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      pending += part[..<count]
      while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: pending[..<end], as: UTF8.self)
        lines.withLock { $0.append(line) }
        pending.removeSubrange(...end)
      }
    }
    close(descriptor)
    hasEnded.store(true, ordering: .releasing)
  }
}
