// SPDX-License-Identifier: Apache-2.0

public import SoundServer

/// Observes a server's sources, even across restarts of the server, and measures their peaks.
///
/// ## Threading
/// Any thread may use the monitor. `onChange` is called on a separate thread and must not call
/// `stop`.
public final class SourceMonitor: Sendable {
  private let observer: DeviceObserver<MeteredSources>
  private let levels: PeakBoard

  /// Starts to observe the sources.
  ///
  /// - Parameters:
  ///   - serverAddress: see `AudioOutputConfiguration.serverAddress`.
  ///   - measures: returns whether to measure the peaks of a source.
  ///   - onChange: receives the sources when they are first known and after each change of a source
  ///     or of the default source, or an empty array if the server is lost.
  /// - Throws: `systemFailure`.
  public init(
    serverAddress: String? = nil,
    measures: @escaping @Sendable (Source) -> Bool = { _ in false },
    onChange: @escaping @Sendable ([Source]) -> Void = { _ in }
  ) throws(SoundServerError) {
    let sources = MeteredSources(
      ObservedDevices(loop: try ThreadedLoop(name: "source-monitor"), address: serverAddress),
      measures: measures)
    levels = sources.levels
    observer = try DeviceObserver(sources, retryInterval: 95_000_000, onChange: onChange)
  }

  /// The latest sources, in the server's order; empty if there is no server.
  public var sources: [Source] { observer.devices }

  /// Returns each channel's peak since the last call, by the name of the source. Full scale is 1.
  /// Sources without new peaks are left out.
  public func takePeaks() -> [String: [Float]] { levels.take() }

  /// The number of peaks that the open meters have received. Simultaneous peaks of a source's
  /// channels count as one.
  public var peakCount: Int { levels.count }

  /// Stops observing without waiting for the server. `onChange` is not called afterwards.
  public func stop() { observer.stop() }
}

/// A server's sources, with a meter for each measured source.
private final class MeteredSources: DeviceConnection {
  let levels = PeakBoard()
  private let sources: ObservedDevices<Source>
  private let measures: (Source) -> Bool
  private var meters: [String: PeakStream] = [:]

  init(_ sources: ObservedDevices<Source>, measures: @escaping (Source) -> Bool) {
    (self.sources, self.measures) = (sources, measures)
  }

  var loop: ThreadedLoop { sources.loop }
  var isOpen: Bool { sources.isOpen }
  var isGood: Bool { sources.isGood }

  func open() { sources.open() }

  func close() {
    for (name, meter) in meters {
      meter.close()
      levels.forget(name)
    }
    meters = [:]
    sources.close()
  }

  func destroy() { close() }

  func readDevices() -> [Source]? {
    let devices = sources.readDevices()
    if let devices { adjustMeters(to: devices, on: sources.connection) }
    return devices
  }

  /// Closes outdated and failed meters, and opens missing meters.
  private func adjustMeters(to sources: [Source], on connection: Connection) {
    guard connection.context != nil else { return }
    let wanted = sources.filter(measures)
    for (name, meter) in meters {
      let source = wanted.first { $0.name == name }
      if let source, meter.fits(source), meter.isGood { continue }
      meter.close()
      meters[name] = nil
      levels.forget(name)
    }
    for source in wanted where meters[source.name] == nil {
      meters[source.name] = PeakStream(of: source, on: connection, board: levels)
    }
  }
}
