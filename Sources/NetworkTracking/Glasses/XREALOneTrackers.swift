// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
package import HeadTracking
import Synchronization
import System

/// Provides XREAL One, One Pro and 1S (3318:0438, 0436, 043e), which act as USB network adapters.
///
/// The glasses send their measurements over TCP from a fixed address. The computer needs an address
/// in the same network on the interface of the glasses.
package final class XREALOneTrackers: TrackerProvider {
  /// How to find and reach the glasses.
  struct Place: Sendable {
    var address = "169.254.2.1"
    var port = 52998
    /// The prefix of all addresses in the glasses' network.
    var network = "169.254.2."
    var interfaces: @Sendable () -> [USBNetworkInterface] = { USBNetworkInterface.all() }
  }

  private let axes: AxisMap?
  private let place: Place
  private let capture: FrameCapture?
  private let failure = Mutex<(error: HeadTrackingError, until: Int64)?>(nil)

  private static let vendor: UInt16 = 0x3318
  private static let names: [UInt16: String] = [
    0x0438: "XREAL One", 0x0436: "XREAL One Pro", 0x043E: "XREAL 1S",
  ]
  private static let connectMilliseconds = 1000
  /// The time after a failed attempt, in nanoseconds, during which `connect` throws the same error
  /// without another attempt.
  private static let retryTime: Int64 = 2_000_000_000

  /// Creates a provider for glasses at their usual address.
  ///
  /// - Parameters:
  ///   - axes: the mounting of the glasses' sensor; nil to use `rightUpBack` for calibrated glasses
  ///     and to find the mounting of other glasses from the direction of gravity.
  ///   - capture: receives the bytes that the connected glasses send; nil for no capture.
  package convenience init(axes: AxisMap? = nil, capture: FrameCapture? = nil) {
    self.init(axes: axes, capture: capture, at: Place())
  }

  init(axes: AxisMap? = nil, capture: FrameCapture? = nil, at place: Place) {
    (self.axes, self.capture) = (axes, capture)
    self.place = place
  }

  package func trackers(detailed: Bool) -> [TrackerDescription] {
    place.interfaces().compactMap { interface in
      guard interface.vendorID == Self.vendor, let name = Self.names[interface.productID] else {
        return nil
      }
      let isReachable = interface.addresses.contains { $0.hasPrefix(place.network) }
      let advice =
        "this computer has no address in the glasses' network; run 'sudo ip address add "
        + "\(place.network)10/24 dev \(interface.name)'"
      return TrackerDescription(
        path: "tcp:\(place.address):\(place.port)", vendorID: interface.vendorID,
        productID: interface.productID, serial: interface.serial, manufacturer: "XREAL",
        product: name, bus: .usb, protocolDescription: "XREAL One", kind: .head,
        access: isReachable ? .ready : .failed(advice), id: interface.serial)
    }
  }

  package func connect(
    _ tracker: TrackerDescription, isCalibrated: Bool
  ) throws(HeadTrackingError) -> any TrackerConnection {
    let now = monotonic_nanoseconds()
    if let failure = failure.withLock({ $0 }), now < failure.until { throw failure.error }
    do throws(SystemError) {
      let socket = try StreamSocket(
        place.address, port: place.port, timeoutMilliseconds: Self.connectMilliseconds)
      capture?.source = "tcp:xreal-one"
      // The axes of a calibrated tracker must be the same in every session.
      return Connection(
        socket, XREALOneStream(axes: axes ?? (isCalibrated ? .rightUpBack : nil)), capture)
    } catch {
      let failure = HeadTrackingError.cannotOpen(
        path: tracker.path, reason: error.description)
      self.failure.withLock { $0 = (failure, monotonic_nanoseconds() + Self.retryTime) }
      throw failure
    }
  }

  private struct Connection: TrackerConnection {
    private let socket: StreamSocket
    private var stream: XREALOneStream
    private let capture: FrameCapture?
    private var isSilent = false

    init(_ socket: StreamSocket, _ stream: XREALOneStream, _ capture: FrameCapture?) {
      (self.socket, self.stream, self.capture) = (socket, stream, capture)
    }

    var keepsReference: Bool { false }

    /// Gives up the connection, because TCP does not notice that the glasses were unplugged.
    mutating func restart() { isSilent = true }
    mutating func close() {}

    mutating func listen(timeoutMilliseconds: Int) -> TrackerNews {
      guard !isSilent else { return .gone }
      switch socket.read(timeoutMilliseconds: timeoutMilliseconds) {
      case .nothing: return .nothing
      case .closed: return .gone
      case .bytes(let bytes):
        let arrival = monotonic_nanoseconds()
        capture?.add(bytes, .received, time: arrival)
        let news = stream.decode(bytes, arrival: arrival)
        return .readings(news.readings, rejected: news.rejectedCount)
      }
    }
  }
}
