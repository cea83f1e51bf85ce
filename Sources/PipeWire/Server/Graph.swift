// SPDX-License-Identifier: Apache-2.0

import CPipeWire
internal import SoundServer

/// The objects with which a PipeWire server describes its sinks and streams.
///
/// ## Threading
/// Use an instance on the loop's thread or with the loop's lock held.
final class Graph: CallbackTarget {
  /// The server's sample rate [Hz], for sinks that state no rate.
  var defaultRate = 48_000
  /// The number of requests made so far for objects and their parameters.
  private(set) var requests = 0

  /// Whether the streams of programs are followed. Otherwise, `streamNodes` and `processes` stay
  /// empty.
  let followsStreams: Bool
  private let library: PipeWireLibrary
  private let registry: OpaquePointer?
  private let onChange: () -> Void
  private var listener: Listener<pw_registry_events>?
  private(set) var nodes: [UInt32: SinkNode] = [:]
  private(set) var streamNodes: [UInt32: StreamNode] = [:]
  /// The process IDs of the server's clients, by client ID.
  private(set) var processes: [UInt32: Int] = [:]
  private var devices: [UInt32: Device] = [:]
  private(set) var defaults: DefaultMetadata?
  private var links: [UInt32: (output: UInt32, input: UInt32)] = [:]

  init(
    core: OpaquePointer, library: PipeWireLibrary, followsStreams: Bool,
    onChange: @escaping () -> Void
  ) {
    (self.library, self.followsStreams, self.onChange) = (library, followsStreams, onChange)
    registry = pipewire_registry(core)
    var events = pw_registry_events()
    events.version = UInt32(PW_VERSION_REGISTRY_EVENTS)
    events.global = { this, id, _, type, _, properties in
      Graph.with(this) { graph in
        if let type { graph.added(id, String(cString: type), properties) }
      }
    }
    events.global_remove = { this, id in Graph.with(this) { $0.removed(id) } }
    let listener = Listener(events)
    self.listener = listener
    if let registry { pipewire_listen_registry(registry, listener.hook, listener.events, userdata) }
  }

  /// Releases all objects. Call this function before the connection ends.
  func close() {
    listener?.remove()
    for node in nodes.values { node.release() }
    for device in devices.values { device.release() }
    for stream in streamNodes.values { stream.release() }
    defaults?.release()
    (nodes, devices, links, defaults) = ([:], [:], [:], nil)
    (streamNodes, processes) = ([:], [:])
    if let registry { library.functions.pointee.pw_proxy_destroy(registry) }
  }

  // MARK: The sinks

  var defaultSinkName: String? { defaults?.sinkName }

  /// The sinks, in the order of their IDs.
  var sinks: [Sink] {
    nodes.sorted { $0.key < $1.key }.map { sink($0.value) }
  }

  /// Returns the ID of a sink to which the node `node` is linked; nil if the node is not linked to
  /// a sink.
  func sinkID(linkedFrom node: UInt32) -> UInt32? {
    links.values.first { $0.output == node && nodes[$0.input] != nil }?.input
  }

  /// Returns whether anything is linked to the inputs of a node.
  func isLinked(to node: UInt32) -> Bool { links.values.contains { $0.input == node } }

  func sink(id: UInt32) -> Sink? { nodes[id].map(sink) }

  private func sink(_ node: SinkNode) -> Sink {
    var sink = node.sink(on: node.deviceID.flatMap { devices[$0] }, defaultRate: defaultRate)
    sink.isDefault = sink.name == defaults?.sinkName
    return sink
  }

  // MARK: Objects

  private func added(_ id: UInt32, _ type: String, _ properties: UnsafePointer<spa_dict>?) {
    func value(_ key: String) -> String? {
      pipewire_value(properties, key).map { String(cString: $0) }
    }
    switch type {
    case "PipeWire:Interface:Node":
      switch value(PW_KEY_MEDIA_CLASS) {
      case "Audio/Sink", "Audio/Duplex":
        nodes[id] = SinkNode(bind(id, type, PW_VERSION_NODE), library, ask: note, tell: onChange)
      case "Stream/Output/Audio" where followsStreams:
        streamNodes[id] = StreamNode(
          bind(id, type, PW_VERSION_NODE), library, ask: note, tell: onChange)
      default: return
      }
    case "PipeWire:Interface:Client":
      guard followsStreams else { return }
      processes[id] = value("pipewire.sec.pid").flatMap { Int($0) }
    case "PipeWire:Interface:Device":
      guard value(PW_KEY_MEDIA_CLASS) == "Audio/Device" else { return }
      devices[id] = Device(bind(id, type, PW_VERSION_DEVICE), library, ask: note, tell: onChange)
    case "PipeWire:Interface:Metadata":
      guard value("metadata.name") == "default" else { return }
      defaults?.release()
      defaults = DefaultMetadata(id, bind(id, type, PW_VERSION_METADATA), library, tell: onChange)
      requests += 1
    case "PipeWire:Interface:Link":
      guard let output = value("link.output.node").flatMap({ UInt32($0) }),
        let input = value("link.input.node").flatMap({ UInt32($0) })
      else { return }
      links[id] = (output, input)
    default: return
    }
    onChange()
  }

  private func bind(_ id: UInt32, _ type: String, _ version: Int32) -> UnsafeMutableRawPointer? {
    requests += 1
    return pipewire_bind(registry, id, type, UInt32(version))
  }

  private func note() { requests += 1 }

  private func removed(_ id: UInt32) {
    nodes.removeValue(forKey: id)?.release()
    devices.removeValue(forKey: id)?.release()
    streamNodes.removeValue(forKey: id)?.release()
    processes[id] = nil
    links[id] = nil
    if defaults?.id == id {
      defaults?.release()
      defaults = nil
    }
    onChange()
  }
}
