// SPDX-License-Identifier: Apache-2.0

package import HeadTracking

/// Provides trackers that send MIDI messages.
///
/// They are recognised by the name of the port or of the device or program that has the port.
/// Listing them does not load libasound.
package final class MIDITrackers: TrackerProvider {
  /// A port that the user named with an ID of the form `midi:PORT:MODEL`.
  package struct Request: Sendable, Equatable {
    /// The complete ID.
    var id: String
    /// The beginning of the port's name, or of the name of the device or program that has the port.
    var port: String
    /// The name of the model, in lower case.
    var model: String

    /// The possible values of MODEL: the names of the built-in models.
    package static let models = MIDIModel.builtIn(MIDISettings()).map(\.name)

    /// Parses an ID; nil if it is not of the form `midi:PORT:MODEL` or if MODEL is not in `models`.
    package init?(_ id: String) {
      let parts = id.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count > 2, parts[0] == "midi", let model = parts.last?.lowercased(),
        Self.models.contains(model)
      else { return nil }
      (self.id, self.model) = (id, model)
      port = parts[1..<(parts.count - 1)].joined(separator: ":")
      guard !port.isEmpty else { return nil }
    }
  }

  private let axes: AxisMap?
  private let models: [MIDIModel]
  private let requested: (request: Request, model: MIDIModel)?
  private let capture: FrameCapture?
  private let system: any MIDIPorts

  /// The prefix of the substitute for a missing serial number. It is followed by the name of the
  /// client or, if the client has no name, the name of the port, with hyphens for whitespace.
  private static let serialPrefix = "midi:"

  /// Creates a provider for the MIDI ports of this computer.
  ///
  /// - Parameters:
  ///   - axes: the mounting of the tracker on the head; nil for the usual mounting.
  ///   - settings: the settings of the built-in models.
  ///   - models: additional models, which take precedence over the built-in ones.
  ///   - request: a port that the user named, and its model; nil for none.
  ///   - capture: records all bytes to and from the tracker that is opened; nil to record none.
  package convenience init(
    axes: AxisMap? = nil, settings: MIDISettings = MIDISettings(), models: [MIDIModel] = [],
    request: Request? = nil, capture: FrameCapture? = nil
  ) {
    self.init(
      axes: axes, settings: settings, models: models, request: request, capture: capture,
      system: SystemPorts())
  }

  init(
    axes: AxisMap? = nil, settings: MIDISettings = MIDISettings(), models: [MIDIModel] = [],
    request: Request? = nil, capture: FrameCapture? = nil, system: any MIDIPorts
  ) {
    let builtIn = MIDIModel.builtIn(settings)
    self.axes = axes
    self.models = models + builtIn.map(\.model)
    requested = request.flatMap { request in
      builtIn.first { $0.name == request.model }.map { (request, $0.model) }
    }
    (self.capture, self.system) = (capture, system)
  }

  // MARK: List

  package func trackers(detailed: Bool) -> [TrackerDescription] { found().map(\.tracker) }

  private struct Found {
    var port: MIDIPort
    var model: MIDIModel
    var tracker: TrackerDescription
  }

  private func found() -> [Found] {
    var found: [Found] = []
    for port in system.ports() {
      guard let (model, path) = match(port) else { continue }
      // A device with several ports is one tracker.
      let isKnown = found.contains { $0.port.isSameClient(as: port) && $0.model.name == model.name }
      guard !isKnown else { continue }
      found.append(
        Found(port: port, model: model, tracker: description(port, model, path)))
    }
    return found
  }

  /// Returns the model of a port and the path of the tracker; nil if the port has no tracker.
  private func match(_ port: MIDIPort) -> (MIDIModel, path: String)? {
    if let requested, port.begins(with: requested.request.port) {
      return (requested.model, requested.request.id)
    }
    return models.first { $0.portPrefixes.contains(where: port.begins) }.map { ($0, port.path) }
  }

  private func description(
    _ port: MIDIPort, _ model: MIDIModel, _ path: String
  ) -> TrackerDescription {
    let name = port.client.isEmpty ? port.name : port.client
    let serial = port.usb?.serial ?? ""
    let words = name.split { $0.isWhitespace }.joined(separator: "-")
    var tracker = TrackerDescription(
      path: path, vendorID: port.usb?.vendorID ?? 0, productID: port.usb?.productID ?? 0,
      serial: serial.isEmpty ? Self.serialPrefix + words : serial,
      manufacturer: model.manufacturer, product: name, bus: port.usb == nil ? .unknown : .usb,
      protocolDescription: model.name, kind: model.kind,
      access: system.obstacle(port).map { .failed($0) } ?? .ready, id: path)
    tracker.evidence = model.evidence
    tracker.levelsItself = model.levelsItself
    return tracker
  }

  // MARK: Connect

  package func connect(
    _ tracker: TrackerDescription, isCalibrated: Bool
  ) throws(HeadTrackingError) -> any TrackerConnection {
    let same = found().first {
      $0.tracker.path == tracker.path && $0.tracker.serial == tracker.serial
    }
    guard let same else {
      throw .cannotConnect(
        name: tracker.name, reason: "its MIDI port is gone; reconnect the tracker")
    }
    let settings = MIDIModel.Settings(axes: axes, isCalibrated: isCalibrated)
    do throws(MIDIError) {
      var link = try system.open(same.port)
      if let capture {
        let isProfile = same.model.name.hasPrefix("profile ")
        capture.source = isProfile ? "profile:\(same.model.name.dropFirst(8))" : same.model.name
        link = CapturedLink(link, capture)
      }
      return try MIDIConnection(link, same.model.open(settings))
    } catch {
      throw .cannotConnect(name: tracker.name, reason: error.reason)
    }
  }
}

extension MIDIPort {
  /// Returns whether two ports belong to the same device or program.
  fileprivate func isSameClient(as other: MIDIPort) -> Bool {
    switch (place, other.place) {
    case (.sequencer(let client, _), .sequencer(let otherClient, _)): client == otherClient
    default: card == other.card
    }
  }
}
