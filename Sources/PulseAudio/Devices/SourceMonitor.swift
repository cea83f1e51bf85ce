// SPDX-License-Identifier: Apache-2.0

public import SoundServer

/// Observes a server's sources and the default source, even across restarts of the server, and
/// measures the peaks of chosen sources.
///
/// ## Threading
/// It may be used from any thread. `onChange` is called on the monitor's own thread, one call at a
/// time, and must not stop the monitor.
public final class SourceMonitor: Sendable {
  private let observer: DeviceObserver<MeteredSources>
  private let levels: PeakBoard

  /// Starts to observe the sources.
  ///
  /// - Parameters:
  ///   - serverAddress: see `AudioOutputConfiguration.serverAddress`.
  ///   - measures: returns whether the peaks of a source are measured. By default, no peaks are
  ///     measured.
  ///   - onChange: receives the sources whenever a source appears, changes or disappears or the
  ///     default source changes. Receives an empty array when the server is lost.
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

  /// The sources as last reported, in the server's order; empty if there is no server.
  public var sources: [Source] { observer.devices }

  /// Returns the peak of each channel since the last call, keyed by the source's name. Full scale
  /// is 1. A source without new peaks is left out.
  public func takePeaks() -> [String: [Float]] { levels.take() }

  /// The number of peaks that the open meters have received so far. The peaks of all channels of a
  /// source at one time count as one.
  public var peakCount: Int { levels.count }

  /// Ends the monitor without waiting for the server. `onChange` is not called afterwards.
  public func stop() { observer.stop() }
}

/// The sources of a server, with a meter on each source that is measured.
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

  /// Closes the meters of sources that are gone or have changed, and meters that have failed. Then
  /// opens the missing meters.
  private func adjustMeters(to sources: [Source], on connection: Connection) {
    guard let context = connection.context else { return }
    let wanted = sources.filter(measures)
    for (name, meter) in meters {
      let source = wanted.first { $0.name == name }
      if let source, meter.fits(source), meter.isGood { continue }
      meter.close()
      meters[name] = nil
      levels.forget(name)
    }
    for source in wanted where meters[source.name] == nil {
      meters[source.name] = PeakStream(
        of: source, in: context, isPipeWire: connection.isPipeWire, board: levels)
    }
  }
}
