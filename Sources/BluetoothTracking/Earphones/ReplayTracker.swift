// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
package import HeadTracking
import Synchronization

/// Provides a tracker that plays a capture of an earphone's packets once, at the original speed.
package final class ReplayTracker: TrackerProvider {
  /// Prefix of the tracker's ID, before the file's path.
  package static let prefix = "replay:"

  private let file: FrameFile
  private let path: String
  private let memory: EarphoneMemory
  private let isDone = Atomic<Bool>(false)

  /// Reads the capture.
  ///
  /// - Parameters:
  ///   - path: the file, plain or compressed with gzip.
  ///   - memory: the mounting and service, for a capture without them.
  /// - Throws: `cannotReadMotion` or `badMotionRow`.
  package init(
    _ path: String, memory: EarphoneMemory = EarphoneMemory()
  ) throws(HeadTrackingError) {
    self.path = path
    self.memory = memory
    file = try FrameFile(String(decoding: TextFile.read(path), as: UTF8.self), path: path)
  }

  package func trackers(detailed: Bool) -> [TrackerDescription] {
    guard !isDone.load(ordering: .relaxed) else { return [] }
    let name = path.split(separator: "/").last.map(String.init) ?? path
    var tracker = TrackerDescription(
      path: Self.prefix + path, vendorID: 0, productID: 0, serial: "", manufacturer: "",
      product: name, bus: .unknown, protocolDescription: file.kind.protocolName, kind: .head,
      access: .ready, id: Self.prefix + path)
    // A capture is calibrated like the earphones that it came from.
    tracker.earphones = EarphoneDetails(isUntested: file.kind == .galaxyBuds)
    tracker.evidence = file.kind == .galaxyBuds ? .documentation : .captures
    tracker.levelsItself = true
    return [tracker]
  }

  package func connect(
    _ tracker: TrackerDescription, isCalibrated: Bool
  ) throws(HeadTrackingError) -> any TrackerConnection {
    let session: any EarphoneProtocol =
      switch file.kind {
      case .airPods: AirPodsProtocol(memory: memory, isCalibrated: isCalibrated)
      case .galaxyBuds: GalaxyBudsProtocol(isCalibrated: isCalibrated)
      }
    return Connection(file.frames, session) { [weak self] in
      self?.isDone.store(true, ordering: .relaxed)
    }
  }

  private struct Connection: TrackerConnection {
    private var rest: ArraySlice<FrameCapture.Frame>
    private var session: any EarphoneProtocol
    private let start = monotonic_nanoseconds()
    private let atEnd: @Sendable () -> Void

    init(
      _ frames: [FrameCapture.Frame], _ session: any EarphoneProtocol,
      atEnd: @escaping @Sendable () -> Void
    ) {
      rest = frames.filter { $0.direction == .received }[...]
      self.session = session
      self.atEnd = atEnd
      _ = self.session.open(now: start)
    }

    var keepsReference: Bool { true }
    var levelsOnRecenter: Bool { session.levelsOnRecenter }
    var restartsItself: Bool { true }
    mutating func restart() {}
    mutating func close() {}

    mutating func listen(timeoutMilliseconds: Int) -> TrackerNews {
      guard let next = rest.first else {
        atEnd()
        return .gone
      }
      let wait = min(due(next) - monotonic_nanoseconds(), Int64(timeoutMilliseconds) * 1_000_000)
      if wait > 0 { usleep(UInt32(wait / 1000)) }
      let now = monotonic_nanoseconds()
      var output = EarphoneOutput()
      while let frame = rest.first, due(frame) <= now {
        rest = rest.dropFirst()
        output += session.receive(frame.bytes, now: max(due(frame), start))
      }
      // The packets that the protocol would send are dropped. Its readings may include a held pose.
      output += session.advance(now: now)
      guard !output.readings.isEmpty || output.rejectedCount > 0 else { return .nothing }
      return .readings(output.readings, rejected: output.rejectedCount)
    }

    private func due(_ frame: FrameCapture.Frame) -> Int64 { start + Int64(frame.time * 1e9) }
  }
}
