// SPDX-License-Identifier: Apache-2.0

import CPulse
import SoundServer

/// A kind of device that a PulseAudio server lists.
protocol PulseDevice: DeviceDescription {
  static var subscription: pa_subscription_mask_t { get }

  /// Requests the list of devices. When the answer arrives, the callback calls `list.take` for each
  /// device, and then `list.end`.
  static func request(for list: DeviceList<Self>, from context: OpaquePointer)

  static func defaultName(on connection: Connection) -> String
}

/// The server's devices of one kind.
///
/// Pending requests refer to the list, so close the connection before you release the list.
///
/// ## Threading
/// Use an instance on the loop's thread or with the loop's lock held.
final class DeviceList<Device: PulseDevice>: CallbackTarget {
  let connection: Connection
  private var found: [Device] = []
  private var hasEnded = false

  init(on connection: Connection) { self.connection = connection }

  /// Whether the list and the server's description have arrived.
  var isComplete: Bool { hasEnded && connection.isDescribed }
  var names: [String] { found.map(\.name) }
  /// The devices received so far, in the server's order.
  var devices: [Device] {
    found.map { device in
      var device = device
      device.isDefault = device.name == Device.defaultName(on: connection)
      return device
    }
  }

  /// Requests the list and the server's description.
  func request() {
    (found, hasEnded, connection.isDescribed) = ([], false, false)
    guard let context = connection.context else { return }
    connection.askServer()
    Device.request(for: self, from: context)
  }

  func take(_ device: Device) { found.append(device) }

  func end() {
    hasEnded = true
    connection.loop.kick()
  }
}

extension ClientConnection {
  /// Returns the server's devices. Call it with the loop's lock held.
  ///
  /// - Throws: `noServer`, `serverSilent` or `systemFailure`.
  func devices<Device: PulseDevice>() throws(SoundServerError) -> [Device] {
    let list = DeviceList<Device>(on: connection)
    list.request()
    defer { if !list.isComplete { connection.close() } }
    try wait { _ in list.isComplete }
    return list.devices
  }
}

/// A connection to a PulseAudio server that supplies a `DeviceObserver` with one kind of device.
final class ObservedDevices<Device: PulseDevice>: DeviceConnection {
  let loop: ThreadedLoop
  let connection: Connection
  private let list: DeviceList<Device>
  private var isSubscribed = false
  private var isAsked = false
  private var isStale = true

  init(loop: ThreadedLoop, address: String?) {
    self.loop = loop
    connection = Connection(loop: loop, address: address)
    list = DeviceList(on: connection)
    connection.onEvent = { [unowned self] _, _ in
      isStale = true
      loop.kick()
    }
  }

  var isOpen: Bool { connection.context != nil }
  var isGood: Bool { connection.isGood }

  func open() { connection.open() }

  func close() {
    connection.close()
    (isSubscribed, isAsked, isStale) = (false, false, true)
  }

  func destroy() { close() }

  func readDevices() -> [Device]? {
    guard connection.isReady else { return nil }
    if !isSubscribed { connection.subscribe(to: Device.subscription) }
    isSubscribed = true
    defer {
      if isStale, !isAsked {
        (isAsked, isStale) = (true, false)
        list.request()
      }
    }
    guard isAsked, list.isComplete else { return nil }
    isAsked = false
    return list.devices
  }
}
