// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
package import HeadTracking
import Synchronization
import System

/// Provides the trackers whose profiles have the link `tcp` or `udp`.
///
/// These trackers are always listed but never chosen automatically. The program connects only to
/// one that the user has named.
package final class ProfiledNetworkTrackers: TrackerProvider {
  private let profiles: [TrackerProfile]
  private let axes: AxisMap?
  private let capture: FrameCapture?
  private let failures = Mutex<[String: (error: HeadTrackingError, until: Int64)]>([:])

  private static let connectMilliseconds = 1000
  /// The time after a failed attempt, in nanoseconds, during which `connect` throws the same error
  /// without another attempt.
  private static let retryTime: Int64 = 2_000_000_000

  package init(_ settings: TrackerSettings) {
    (axes, capture) = (settings.axes, settings.capture)
    profiles = settings.profiles.filter { Self.path($0) != nil }
  }

  /// Returns the path of a profile's tracker, such as `tcp:192.168.1.7:5000`; nil if the link is
  /// neither `tcp` nor `udp`.
  private static func path(_ profile: TrackerProfile) -> String? {
    switch profile.link {
    case .tcp(let place), .udp(let place):
      "\(profile.link.name):\(place.address):\(place.port)"
    default: nil
    }
  }

  package func trackers(detailed: Bool) -> [TrackerDescription] {
    profiles.map { profile in
      let path = Self.path(profile) ?? ""
      var tracker = TrackerDescription(
        path: path, vendorID: 0, productID: 0, serial: "", manufacturer: "", product: profile.name,
        bus: .network, protocolDescription: "profile \(profile.name)", kind: profile.kind,
        access: .ready, id: path)
      tracker.isAway = true
      tracker.evidence = profile.evidence
      tracker.levelsItself = profile.hasOrientation
      return tracker
    }
  }

  package func connect(
    _ tracker: TrackerDescription, isCalibrated: Bool
  ) throws(HeadTrackingError) -> any TrackerConnection {
    let failure = failures.withLock { $0[tracker.path] }
    if let failure, monotonic_nanoseconds() < failure.until { throw failure.error }
    guard
      let profile = profiles.first(where: {
        Self.path($0) == tracker.path && $0.name == tracker.product
      })
    else { throw .cannotOpen(path: tracker.path, reason: "no profile describes it") }
    do throws(HeadTrackingError) { return try open(profile, tracker.path) } catch {
      let until = monotonic_nanoseconds() + Self.retryTime
      failures.withLock { $0[tracker.path] = (error, until) }
      throw error
    }
  }

  private func open(
    _ profile: TrackerProfile, _ path: String
  ) throws(HeadTrackingError) -> any TrackerConnection {
    switch profile.link {
    case .tcp(let place):
      do throws(SystemError) {
        let socket = try StreamSocket(
          place.address, port: place.port, timeoutMilliseconds: Self.connectMilliseconds)
        // TCP does not notice that a tracker was switched off.
        return ProfileConnection(
          StreamLink(socket: socket), profile, axes: axes, capture: capture, endsSilent: true)
      } catch {
        throw .cannotConnect(
          name: profile.name, reason: "\(path): \(error); check the address and the network")
      }
    case .udp(let place):
      let named = place.address == "loopback" ? .loopback : ListeningAddress(place.address[...])
      guard let address = named else {
        throw .cannotConnect(
          name: profile.name,
          reason: "'\(place.address)' is not an IPv4 address, an IPv6 address in brackets, 'any' "
            + "or 'loopback'; correct the profile")
      }
      let socket: DatagramSocket
      do throws(NetworkTrackerError) {
        socket = try DatagramSocket(address, port: place.port)
      } catch { throw .cannotConnect(name: profile.name, reason: error.description) }
      guard let link = DatagramLink(socket, waitMilliseconds: Self.connectMilliseconds) else {
        throw .cannotConnect(
          name: profile.name,
          reason: "nothing is arriving at \(path); switch the tracker on, and check its target "
            + "address")
      }
      return ProfileConnection(link, profile, axes: axes, capture: capture, endsSilent: true)
    default: throw .cannotOpen(path: path, reason: "no profile describes it")
    }
  }
}

private struct StreamLink: ByteLink {
  let socket: StreamSocket

  func read(timeoutMilliseconds: Int) -> ByteNews {
    switch socket.read(timeoutMilliseconds: timeoutMilliseconds) {
    case .bytes(let bytes): .bytes([bytes])
    case .nothing: .nothing
    case .closed: .gone
    }
  }

  func write(_ bytes: [UInt8]) { socket.write(bytes) }
}

private struct DatagramLink: ByteLink {
  private let socket: DatagramSocket
  /// Datagrams that arrived before the first call of `read`.
  private var early: [[UInt8]]

  /// Waits for a datagram; nil if none arrives in time.
  init?(_ socket: DatagramSocket, waitMilliseconds: Int) {
    self.socket = socket
    early = socket.datagrams(timeoutMilliseconds: waitMilliseconds)
    guard !early.isEmpty else { return nil }
  }

  mutating func read(timeoutMilliseconds: Int) -> ByteNews {
    guard early.isEmpty else {
      defer { early = [] }
      return .bytes(early)
    }
    let datagrams = socket.datagrams(timeoutMilliseconds: timeoutMilliseconds)
    return datagrams.isEmpty ? .nothing : .bytes(datagrams)
  }

  /// Does nothing, because a profile with this link has no commands.
  func write(_ bytes: [UInt8]) {}
}
