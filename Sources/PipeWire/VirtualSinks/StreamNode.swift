// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
import CPipeWire
internal import SoundServer

/// A node with the media class `Stream/Output/Audio`.
final class StreamNode: BoundObject {
  private var state = PW_NODE_STATE_CREATING
  /// The current format (`format`) and the first format that the node offers (`offered`).
  private var format = Format()
  private var offered = Format()

  private struct Format {
    var channels = 0
    var positions: [UInt32] = []
  }

  override init(
    _ proxy: UnsafeMutableRawPointer?, _ library: PipeWireLibrary, ask: @escaping () -> Void,
    tell: @escaping () -> Void
  ) {
    super.init(proxy, library, ask: ask, tell: tell)
    guard let proxy else { return }
    var events = pw_node_events()
    events.version = UInt32(PW_VERSION_NODE_EVENTS)
    events.info = { this, info in
      StreamNode.with(this) { node in info.map { node.take($0.pointee) } }
    }
    events.param = { this, _, id, _, _, pod in StreamNode.with(this) { $0.take(id, pod) } }
    let listener = Listener(events)
    hold(listener)
    pipewire_listen_node(proxy, listener.hook, listener.events, userdata)
  }

  private func take(_ info: pw_node_info) {
    state = info.state
    take(info.props)
    let wanted = [SPA_PARAM_Format.rawValue, SPA_PARAM_EnumFormat.rawValue]
    update(info.params, count: info.n_params, wanted: wanted) { id in
      if id == SPA_PARAM_Format.rawValue { format = Format() } else { offered = Format() }
      pipewire_enum_node(proxy, 0, id)
    }
    tell()
  }

  private func take(_ id: UInt32, _ pod: UnsafePointer<spa_pod>?) {
    var (rate, channels): (Int32, Int32) = (0, 0)
    pipewire_read_format(pod, &rate, &channels)
    var positions = [UInt32](repeating: 0, count: Int(SPA_AUDIO_MAX_CHANNELS))
    let count = pipewire_read_positions(pod, &positions, UInt32(positions.count))
    let read = Format(channels: Int(channels), positions: Array(positions.prefix(Int(count))))
    if id == SPA_PARAM_Format.rawValue { format = read }
    if id == SPA_PARAM_EnumFormat.rawValue, offered.channels == 0 { offered = read }
    tell()
  }

  /// The server's unique number for the node; nil if unknown.
  var serial: UInt64? { properties["object.serial"].flatMap { UInt64($0) } }

  var clientID: UInt32? { properties[PW_KEY_CLIENT_ID].flatMap { UInt32($0) } }

  /// Returns the stream's description; nil while the serial number is unknown.
  ///
  /// - Parameters:
  ///   - sink: the name of the sink that the stream is linked to; nil if there is none.
  ///   - clientProcess: the process ID to use if the stream states none.
  func stream(on sink: String?, clientProcess: Int?) -> ProgramStream? {
    guard let serial else { return nil }
    let format = format.channels > 0 ? format : offered
    let layout = ChannelLayout(
      pipeWire: format.positions.isEmpty ? offered.positions : format.positions)
    let isComplete = layout?.channelCount == format.channels
    let named = [PW_KEY_APP_NAME, PW_KEY_NODE_DESCRIPTION, PW_KEY_NODE_NAME].lazy
    var stream = ProgramStream(
      id: serial, sink: sink, layout: isComplete ? layout : nil, channelCount: format.channels,
      role: properties[PW_KEY_MEDIA_ROLE]?.lowercased(),
      application: named.compactMap { self.properties[$0] }.first ?? "",
      processID: properties["application.process.id"].flatMap { Int($0) } ?? clientProcess)
    stream.isCorked =
      properties["pulse.corked"] == "true" || state == PW_NODE_STATE_IDLE
      || state == PW_NODE_STATE_SUSPENDED
    return stream
  }
}
