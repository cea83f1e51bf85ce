// SPDX-License-Identifier: Apache-2.0

import Glibc
import HeadTracking
import System

/// An open serial port in raw mode: 8 data bits, no parity, one stop bit, no flow control.
///
/// ## Threading
/// Use a port from one thread at a time.
final class SerialPort: ByteLink {
  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 4096)

  /// The maximum number of pieces that one call of `read` returns. Each piece is at most as long as
  /// `buffer`.
  private static let mostPieces = 16
  /// The longest wait for space in the output queue, in milliseconds.
  private static let writeMilliseconds: Int32 = 100

  /// Opens a port exclusively and discards the contents of its queues.
  ///
  /// - Throws: the system's error, such as ENOTTY if `path` does not lead to a terminal device, or
  ///   EBUSY if another program uses the port exclusively.
  init(_ path: String, _ settings: TrackerProfile.SerialPort) throws(SystemError) {
    let descriptor = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw .latest }
    do throws(SystemError) { try Self.prepare(descriptor, settings) } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  private static func prepare(
    _ descriptor: Int32, _ settings: TrackerProfile.SerialPort
  ) throws(SystemError) {
    var mode = termios()
    guard tcgetattr(descriptor, &mode) == 0 else { throw .latest }
    guard ioctl(descriptor, UInt(TIOCEXCL)) == 0 else { throw .latest }
    cfmakeraw(&mode)
    // cfmakeraw leaves the software flow control that an earlier program may have chosen.
    mode.c_iflag &= ~tcflag_t(IXOFF | IXANY)
    mode.c_cflag |= tcflag_t(CLOCAL | CREAD)
    mode.c_cflag &= ~(tcflag_t(CSTOPB) | tcflag_t(bitPattern(CRTSCTS)))
    if !settings.setsDTR { mode.c_cflag &= ~tcflag_t(HUPCL) }
    withUnsafeMutableBytes(of: &mode.c_cc) { codes in
      codes[Int(VMIN)] = 0
      codes[Int(VTIME)] = 0
    }
    let speed = SerialPort.speed(settings.baud)
    cfsetispeed(&mode, speed)
    cfsetospeed(&mode, speed)
    guard tcsetattr(descriptor, TCSANOW, &mode) == 0 else { throw .latest }
    // Ignore an error, because a pseudo-terminal has no DTR line.
    var line = TIOCM_DTR
    _ = ioctl(descriptor, UInt(settings.setsDTR ? TIOCMBIS : TIOCMBIC), &line)
    tcflush(descriptor, TCIOFLUSH)
  }

  private static func bitPattern(_ flag: some BinaryInteger) -> UInt32 {
    UInt32(truncatingIfNeeded: flag)
  }

  /// Returns the constant for a baud rate; `B115200` if the rate has no constant.
  private static func speed(_ baud: Int) -> speed_t {
    let speeds: [Int: Int32] = [
      1200: B1200, 2400: B2400, 4800: B4800, 9600: B9600, 19_200: B19200, 38_400: B38400,
      57_600: B57600, 115_200: B115200, 230_400: B230400, 460_800: B460800, 500_000: B500000,
      576_000: B576000, 921_600: B921600, 1_000_000: B1000000, 1_500_000: B1500000,
      2_000_000: B2000000, 3_000_000: B3000000, 4_000_000: B4000000,
    ]
    return speed_t(speeds[baud] ?? B115200)
  }

  func read(timeoutMilliseconds: Int) -> ByteNews {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&request, 1, Int32(timeoutMilliseconds)) > 0 else { return .nothing }
    var pieces: [[UInt8]] = []
    while pieces.count < Self.mostPieces {
      let length = Glibc.read(descriptor, &buffer, buffer.count)
      if length < 0, errno == EINTR { continue }
      if length < 0, errno == EAGAIN { break }
      if length > 0 {
        pieces.append(Array(buffer.prefix(length)))
        if length < buffer.count { break }
        continue
      }
      if !pieces.isEmpty { break }
      // 0 bytes mean that the port is unplugged or, because `VMIN` is 0, that it has no data.
      return request.revents & Int16(POLLHUP | POLLERR) != 0 || length < 0 ? .gone : .nothing
    }
    return pieces.isEmpty ? .nothing : .bytes(pieces)
  }

  func write(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = Array(rest).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
        continue
      }
      guard count < 0, errno == EAGAIN || errno == EINTR else { return }
      var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      guard poll(&request, 1, Self.writeMilliseconds) > 0 else { return }
    }
  }
}
