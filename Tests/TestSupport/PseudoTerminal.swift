// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// A terminal without a window, of 80 x 24 characters.
///
/// ## Threading
/// Not thread-safe.
public final class PseudoTerminal {
  /// The terminal as a program sees it.
  public let far: Int32
  private let near: Int32

  public init() throws {
    (near, far, _) = try Self.open()
    _ = fcntl(near, F_SETFL, O_NONBLOCK)
    var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(near, UInt(TIOCSWINSZ), &size)
  }

  deinit {
    close(near)
    close(far)
  }

  /// What was written to the terminal since the last call.
  public var written: [UInt8] {
    var (bytes, part) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
    while case let count = read(near, &part, part.count), count > 0 { bytes += part[..<count] }
    return bytes
  }

  /// Opens a terminal; its user end is open, and also has a path.
  static func open() throws -> (near: Int32, far: Int32, path: String) {
    // Does the work of posix_openpt, unlockpt and ptsname, which Swift's Glibc lacks with their
    // constants.
    let (lock, number) = (UInt(0x4004_5431), UInt(0x8004_5430))
    let near = Glibc.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (locked, index) = (Int32(0), UInt32(0))
    guard near >= 0, ioctl(near, lock, &locked) == 0, ioctl(near, number, &index) == 0 else {
      throw failure("a terminal")
    }
    let path = "/dev/pts/\(index)"
    // Until the program has opened the terminal, the reader would otherwise see an early end.
    return (near, Glibc.open(path, O_RDWR | O_NOCTTY | O_CLOEXEC), path)
  }
}
