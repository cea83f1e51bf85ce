// SPDX-License-Identifier: Apache-2.0

import CDBus
import CRealtime
import DBus
import Glibc

/// A serial port (RFCOMM) of a Bluetooth device. BlueZ opens the port and passes its descriptor to
/// the program.
///
/// The program registers itself as the handler of the port's service (org.bluez.ProfileManager1).
/// On `ConnectProfile`, BlueZ connects and calls `NewConnection` with a descriptor.
final class SerialProfile {
  private let bus: Bus
  private var slot: OpaquePointer?
  private var isRegistered = false
  private let state: UnsafeMutablePointer<State>

  /// The state that the callbacks change.
  private struct State {
    var descriptor: Int32 = -1
    var failure: BusError?
    var isReleased = false
  }

  private static let path = "/org/stillstage/earphones"
  private static let manager = "org.bluez.ProfileManager1"
  private static let connectMicroseconds: UInt64 = 15_000_000

  /// Registers this program as the handler of a service, given by its UUID. BlueZ refuses the
  /// registration if another program handles the service.
  init(_ service: String, on bus: Bus) throws(BusError) {
    self.bus = bus
    state = .allocate(capacity: 1)
    state.initialize(to: State())
    let result = bus_add_object(bus.bus, &slot, Self.path, Self.handle, state)
    // All properties are set, so `deinit` releases everything even if this initialiser throws.
    guard result >= 0 else { throw BusError(number: -result) }
    try bus.call(Self.method("RegisterProfile")) { message in
      message.append(Self.path, as: "o")
      message.append(service)
      message.append([
        ("Role", .text("client")), ("AutoConnect", .flag(false)),
        ("RequireAuthentication", .flag(false)), ("Name", .text("Stillstage")),
      ])
    }
    isRegistered = true
  }

  deinit {
    if isRegistered {
      _ = try? bus.call(Self.method("UnregisterProfile")) { $0.append(Self.path, as: "o") }
    }
    bus_cancel(slot)
    if state.pointee.descriptor >= 0 { close(state.pointee.descriptor) }
    state.deinitialize(count: 1)
    state.deallocate()
  }

  private static func method(_ name: String) -> Bus.Method {
    Bus.Method(
      service: "org.bluez", path: "/org/bluez", interface: manager, name: name)
  }

  /// Connects to the service on a device, given by its object path. Returns a non-blocking
  /// descriptor, which the caller closes.
  func connect(_ device: String, service: String) throws(BusError) -> Int32 {
    let call = try bus.newCall(
      Bus.Method(
        service: "org.bluez", path: device, interface: "org.bluez.Device1", name: "ConnectProfile"))
    call.append(service)
    var pending: OpaquePointer?
    // BlueZ waits for the reply to NewConnection, which this program could not send during a
    // blocking call.
    let result = bus_call_async(
      bus.bus, &pending, call.pointer, Self.finish, state, Self.connectMicroseconds)
    guard result >= 0 else { throw BusError(number: -result) }
    defer { bus_cancel(pending) }
    let end = monotonic_nanoseconds() + Int64(Self.connectMicroseconds) * 1000
    while monotonic_nanoseconds() < end, state.pointee.failure == nil {
      if state.pointee.descriptor >= 0 { return take() }
      let progress = bus_process(bus.bus, nil)
      guard progress >= 0 else { throw BusError(number: -progress) }
      if progress == 0 { _ = bus_wait(bus.bus, 100_000) }
    }
    throw state.pointee.failure ?? BusError(number: ETIMEDOUT)
  }

  private func take() -> Int32 {
    defer { state.pointee.descriptor = -1 }
    let descriptor = state.pointee.descriptor
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    return descriptor
  }

  /// Answers the calls that BlueZ makes on the interface `org.bluez.Profile1` of this program.
  private static let handle: bus_handler = { message, context, _ in
    guard let message, let state = context?.assumingMemoryBound(to: State.self) else { return 0 }
    let interface = "org.bluez.Profile1"
    if bus_message_is_method_call(message, interface, "NewConnection") > 0 {
      var (path, descriptor): (UnsafePointer<CChar>?, Int32) = (nil, -1)
      guard bus_message_read_basic(message, CChar(UInt8(ascii: "o")), &path) > 0,
        bus_message_read_basic(message, CChar(UInt8(ascii: "h")), &descriptor) > 0
      else { return 0 }
      // The message closes its own descriptor when it is released, so this is a duplicate.
      state.pointee.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    } else if bus_message_is_method_call(message, interface, "Release") > 0 {
      state.pointee.isReleased = true
    } else if bus_message_is_method_call(message, interface, "RequestDisconnection") <= 0 {
      return 0
    }
    var reply: OpaquePointer?
    guard bus_message_new_method_return(message, &reply) >= 0, let reply else { return 0 }
    defer { bus_release(reply) }
    _ = bus_send(nil, reply, nil)
    return 1
  }

  private static let finish: bus_handler = { message, context, _ in
    guard let message, let state = context?.assumingMemoryBound(to: State.self) else { return 0 }
    if let failure = bus_message_error(message) {
      state.pointee.failure = BusError(failure.pointee, number: EIO)
    }
    return 1
  }
}
