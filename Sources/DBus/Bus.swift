// SPDX-License-Identifier: Apache-2.0

package import CDBus
import Glibc

/// A connection to a D-Bus message bus.
///
/// ## Threading
/// Only one thread at a time may use it.
package final class Bus {
  package let bus: OpaquePointer

  /// The address of a method.
  package struct Method {
    package var service: String
    package var path: String
    package var interface: String
    package var name: String

    package init(service: String, path: String, interface: String, name: String) {
      self.service = service
      self.path = path
      self.interface = interface
      self.name = name
    }
  }

  /// The bus to connect to.
  package enum Kind: Sendable {
    /// The system bus, for the services of the computer.
    case system
    /// The session bus, for the programs of the user.
    case user
  }

  /// Connects to a bus.
  ///
  /// - Parameters:
  ///   - kind: the bus; ignored if an address is given.
  ///   - address: the bus's D-Bus address; nil for the usual address of `kind`.
  /// - Throws: an error, for example if libsystemd or the bus is missing.
  package init(_ kind: Kind = .system, address: String? = nil) throws(BusError) {
    var bus: OpaquePointer?
    guard let address else {
      let result = kind == .system ? bus_open_system(&bus) : bus_open_user(&bus)
      guard result >= 0, let bus else { throw BusError(number: -result) }
      self.bus = bus
      return
    }
    var result = bus_new(&bus)
    guard result >= 0, let bus else { throw BusError(number: -result) }
    result = bus_set_address(bus, address)
    if result >= 0 { result = bus_set_bus_client(bus, 1) }
    if result >= 0 { result = bus_start(bus) }
    guard result >= 0 else {
      bus_close(bus)
      throw BusError(number: -result)
    }
    self.bus = bus
  }

  deinit { bus_close(bus) }

  /// Calls a method and waits for its reply.
  ///
  /// - Parameters:
  ///   - milliseconds: the longest wait for the reply.
  ///   - arguments: appends the arguments to the message.
  /// - Throws: the error that the service has returned, or an error if no reply arrives in time or
  ///   the call fails.
  @discardableResult
  package func call(
    _ method: Method, milliseconds: UInt64 = 2000, _ arguments: (BusMessage) -> Void = { _ in }
  ) throws(BusError) -> BusMessage {
    let message = try newCall(method)
    arguments(message)
    var failure = bus_error()
    defer { bus_error_free(&failure) }
    var reply: OpaquePointer?
    let result = bus_call(bus, message.pointer, milliseconds * 1000, &failure, &reply)
    guard result >= 0, let reply else { throw BusError(failure, number: -result) }
    return BusMessage(reply)
  }

  /// Returns a message that calls a method; the caller appends the arguments.
  package func newCall(_ method: Method) throws(BusError) -> BusMessage {
    var message: OpaquePointer?
    let result = bus_message_new_method_call(
      bus, &message, method.service, method.path, method.interface, method.name)
    guard result >= 0, let message else { throw BusError(number: -result) }
    return BusMessage(message)
  }
}

/// An error from libsystemd, from the bus or from a service on the bus.
package struct BusError: Error, Equatable {
  /// The error's D-Bus name, such as `org.bluez.Error.AlreadyExists`; empty if it has none.
  package var name: String
  package var text: String

  package init(name: String, text: String) {
    self.name = name
    self.text = text
  }

  package init(number: Int32) { self.init(name: "", text: String(cString: strerror(number))) }

  package init(_ failure: bus_error, number: Int32) {
    guard let name = failure.name else {
      self.init(number: number)
      return
    }
    let text = failure.message.map { String(cString: $0) } ?? ""
    self.init(name: String(cString: name), text: text.isEmpty ? String(cString: name) : text)
  }
}
