// SPDX-License-Identifier: Apache-2.0

import CBluetooth
import CRealtime
import Glibc

/// Opens L2CAP channels (SOCK_SEQPACKET) to Bluetooth Classic devices.
enum L2CAPSocket {
  // Constants from the kernel's linux/socket.h, net/bluetooth/bluetooth.h and l2cap.h.
  private static let bluetoothLevel: Int32 = 274
  private static let securityOption: Int32 = 4
  private static let l2capLevel: Int32 = 6
  private static let l2capOptions: Int32 = 1
  private static let mediumSecurity: UInt8 = 2

  /// Opens a channel on an encrypted link.
  ///
  /// - Parameters:
  ///   - adapter: the adapter's address; empty for any.
  ///   - mtu: the longest packet to receive, in bytes.
  /// - Returns: a non-blocking descriptor, which the caller closes.
  static func open(
    _ address: String, adapter: String, psm: UInt16, mtu: UInt16, timeoutMilliseconds: Int
  ) throws(SocketError) -> Int32 {
    let flags = Int32(SOCK_SEQPACKET.rawValue) | O_CLOEXEC | O_NONBLOCK
    let descriptor = socket(AF_BLUETOOTH, flags, 0)
    guard descriptor >= 0 else { throw SocketError(number: errno) }
    do throws(SocketError) {
      try prepare(descriptor, adapter, mtu)
      try connect(descriptor, address, psm, timeoutMilliseconds)
      return descriptor
    } catch {
      close(descriptor)
      throw error
    }
  }

  private static func prepare(
    _ descriptor: Int32, _ adapter: String, _ mtu: UInt16
  ) throws(SocketError) {
    var from = address(adapter, psm: 0)
    try check(
      withUnsafeBytes(of: &from) {
        bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, length)
      })
    var security = bluetooth_security(level: mediumSecurity, key_size: 0)
    let size = socklen_t(MemoryLayout<bluetooth_security>.size)
    try check(setsockopt(descriptor, bluetoothLevel, securityOption, &security, size))
    var options = bluetooth_l2cap_options()
    var optionsSize = socklen_t(MemoryLayout<bluetooth_l2cap_options>.size)
    try check(getsockopt(descriptor, l2capLevel, l2capOptions, &options, &optionsSize))
    options.incoming_mtu = mtu
    options.mode = 0
    try check(setsockopt(descriptor, l2capLevel, l2capOptions, &options, optionsSize))
  }

  private static func connect(
    _ descriptor: Int32, _ device: String, _ psm: UInt16, _ timeoutMilliseconds: Int
  ) throws(SocketError) {
    var to = address(device, psm: psm)
    let result = withUnsafeBytes(of: &to) {
      Glibc.connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, length)
    }
    guard result != 0 else { return }
    guard errno == EINPROGRESS || errno == EINTR else { throw SocketError(number: errno) }
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard poll(&request, 1, Int32(timeoutMilliseconds)) > 0 else {
      throw SocketError(number: ETIMEDOUT)
    }
    var error: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    try check(getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size))
    guard error == 0 else { throw SocketError(number: error) }
  }

  private static let length = socklen_t(MemoryLayout<bluetooth_l2cap_address>.size)

  private static func check(_ result: Int32) throws(SocketError) {
    guard result == 0 else { throw SocketError(number: errno) }
  }

  private static func address(_ text: String, psm: UInt16) -> bluetooth_l2cap_address {
    var address = bluetooth_l2cap_address()
    address.family = sa_family_t(AF_BLUETOOTH)
    address.psm = psm.littleEndian
    let bytes = text.split(separator: ":").compactMap { UInt8($0, radix: 16) }
    if bytes.count == 6 {
      // The kernel stores the bytes in reverse order.
      address.address = (bytes[5], bytes[4], bytes[3], bytes[2], bytes[1], bytes[0])
    }
    return address
  }
}

/// An error from a Bluetooth socket.
struct SocketError: Error, Equatable {
  /// The error number (`errno`).
  var number: Int32

  /// The reason on one line, for use in an error message.
  var text: String {
    switch number {
    case EAFNOSUPPORT:
      "this system or sandbox has no Bluetooth sockets; run the program outside a sandbox, "
        + "or load the kernel module 'bluetooth'"
    case EPERM, EACCES:
      "no permission for the Bluetooth connection; run the program outside a sandbox, or pair the "
        + "earphones again"
    case ECONNREFUSED, EBUSY:
      "another program may be using the earphones; close that program"
    case EHOSTDOWN, ETIMEDOUT:
      "the earphones do not answer; take them out of the case, and bring them closer"
    default: String(cString: strerror(number))
    }
  }
}
