// SPDX-License-Identifier: Apache-2.0

import CPipeWire
internal import SoundServer

/// The server's metadata object `default`, which names the default sink and the target sinks of
/// streams.
final class DefaultMetadata: BoundObject {
  /// The key of the default sink that the user chose.
  static let configuredSink = "default.configured.audio.sink"
  /// The keys that select a stream's sink: by the sink's name or serial number (`targetObject`), or
  /// by the sink's ID (`targetNode`).
  static let targetObject = "target.object"
  static let targetNode = "target.node"

  let id: UInt32
  private(set) var sinkName: String?
  /// The name of the default sink that the user chose, even if no such sink exists; nil if the user
  /// chose none.
  private(set) var configuredSinkName: String?
  /// The values of `targetObject` and `targetNode`, by stream ID.
  private(set) var targets: [UInt32: [String: String]] = [:]

  init(
    _ id: UInt32, _ proxy: UnsafeMutableRawPointer?, _ library: PipeWireLibrary,
    tell: @escaping () -> Void
  ) {
    self.id = id
    super.init(proxy, library, ask: {}, tell: tell)
    guard let proxy else { return }
    var events = pw_metadata_events()
    events.version = UInt32(PW_VERSION_METADATA_EVENTS)
    events.property = { this, subject, key, _, value in
      DefaultMetadata.with(this) {
        $0.take(
          subject, key.map { String(cString: $0) }, value.map { String(cString: $0) })
      }
      return 0
    }
    let listener = Listener(events)
    hold(listener)
    pipewire_listen_metadata(proxy, listener.hook, listener.events, userdata)
  }

  private func take(_ subject: UInt32, _ key: String?, _ value: String?) {
    // Without a key, all properties of the subject are removed.
    guard subject == 0 else { return takeTarget(subject, key, value) }
    if key == nil || key == Self.configuredSink { configuredSinkName = value.flatMap(nameInJSON) }
    guard key == nil || key == "default.audio.sink" else { return }
    sinkName = value.flatMap(nameInJSON)
    tell()
  }

  private func takeTarget(_ subject: UInt32, _ key: String?, _ value: String?) {
    guard let key else {
      targets[subject] = nil
      return
    }
    guard key == Self.targetObject || key == Self.targetNode else { return }
    targets[subject, default: [:]][key] = value
    if targets[subject]?.isEmpty == true { targets[subject] = nil }
  }

  /// Sets a property of the object with the ID `subject`; 0 is the server itself. A nil value
  /// removes the property.
  func set(_ subject: UInt32, _ key: String, type: String? = nil, to value: String?) {
    guard let proxy else { return }
    pipewire_set_metadata(proxy, subject, key, type, value)
  }
}

/// Returns the text of the member `name` in a JSON object such as `{"name":"ears"}`; nil if there
/// is no such member.
func nameInJSON(_ text: String) -> String? {
  let key = "\"name\""
  var rest = Substring(text)
  while !rest.isEmpty, !rest.hasPrefix(key) { rest.removeFirst() }
  rest = rest.dropFirst(key.count).drop { $0 == " " || $0 == ":" }
  guard rest.first == "\"" else { return nil }
  var name = ""
  var isEscaped = false
  for character in rest.dropFirst() {
    if !isEscaped, character == "\"" { return name }
    isEscaped = !isEscaped && character == "\\"
    if !isEscaped { name.append(character) }
  }
  return nil
}
