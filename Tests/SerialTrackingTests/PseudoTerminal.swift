// SPDX-License-Identifier: Apache-2.0

import Glibc
import System
import TestSupport

/// A pseudo-terminal whose far end plays a serial device.
final class PseudoTerminal {
  struct Failure: Error {}

  /// The device file of the near end.
  let path: String
  private let descriptor: Int32

  /// TIOCSPTLCK and TIOCGPTN, which Swift does not import.
  private static let unlock: UInt = 0x4004_5431
  private static let number: UInt = 0x8004_5430

  init() throws {
    descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (lock, number) = (Int32(0), Int32(0))
    guard descriptor >= 0, ioctl(descriptor, Self.unlock, &lock) == 0,
      ioctl(descriptor, Self.number, &number) == 0
    else { throw Failure() }
    path = "/dev/pts/\(number)"
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
  }

  deinit { close(descriptor) }

  func send(_ bytes: [UInt8]) { _ = write(descriptor, bytes, bytes.count) }

  func send(_ text: String) { send(Array(text.utf8)) }

  /// Returns what the host has sent since the last call.
  func received() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(descriptor, &buffer, buffer.count)
    return count > 0 ? Array(buffer[..<count]) : []
  }
}
