// SPDX-License-Identifier: Apache-2.0

import CSystemBus
import Glibc

/// A connection to the D-Bus system bus.
///
/// ## Threading
/// Belongs to one thread at a time.
final class SystemBus {
  let bus: OpaquePointer

  /// The address of a method: the service, the object's path, the interface and the name.
  struct Method {
    var service: String
    var path: String
    var interface: String
    var name: String
  }

  /// Connects to the bus.
  ///
  /// - Parameter address: the bus's D-Bus address; nil for the usual one.
  /// - Throws: the reason: libsystemd or the bus is missing, or access is denied.
  init(address: String? = nil) throws(BusError) {
    var bus: OpaquePointer?
    guard let address else {
      let result = system_bus_open_system(&bus)
      guard result >= 0, let bus else { throw BusError(number: -result) }
      self.bus = bus
      return
    }
    var result = system_bus_new(&bus)
    guard result >= 0, let bus else { throw BusError(number: -result) }
    result = system_bus_set_address(bus, address)
    if result >= 0 { result = system_bus_set_bus_client(bus, 1) }
    if result >= 0 { result = system_bus_start(bus) }
    guard result >= 0 else {
      system_bus_close(bus)
      throw BusError(number: -result)
    }
    self.bus = bus
  }

  deinit { system_bus_close(bus) }

  /// Calls a method and waits for its reply, at most 2 s.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - arguments: appends the arguments.
  /// - Returns: the reply.
  @discardableResult
  func call(
    _ method: Method, _ arguments: (BusMessage) -> Void = { _ in }
  ) throws(BusError) -> BusMessage {
    let message = try newCall(method)
    arguments(message)
    var failure = system_bus_error()
    defer { system_bus_error_free(&failure) }
    var reply: OpaquePointer?
    let result = system_bus_call(bus, message.pointer, 2_000_000, &failure, &reply)
    guard result >= 0, let reply else { throw BusError(failure, number: -result) }
    return BusMessage(reply)
  }

  func newCall(_ method: Method) throws(BusError) -> BusMessage {
    var message: OpaquePointer?
    let result = system_bus_message_new_method_call(
      bus, &message, method.service, method.path, method.interface, method.name)
    guard result >= 0, let message else { throw BusError(number: -result) }
    return BusMessage(message)
  }
}

/// An error of the bus or of a service on it.
struct BusError: Error, Equatable {
  /// The error's D-Bus name, such as `org.bluez.Error.AlreadyExists`; empty if it has none.
  var name: String
  var text: String

  init(name: String, text: String) {
    self.name = name
    self.text = text
  }

  init(number: Int32) { self.init(name: "", text: String(cString: strerror(number))) }

  init(_ failure: system_bus_error, number: Int32) {
    guard let name = failure.name else {
      self.init(number: number)
      return
    }
    let text = failure.message.map { String(cString: $0) } ?? ""
    self.init(name: String(cString: name), text: text.isEmpty ? String(cString: name) : text)
  }
}
