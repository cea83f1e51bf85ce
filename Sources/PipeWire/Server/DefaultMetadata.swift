// SPDX-License-Identifier: Apache-2.0

import CPipeWire
internal import SoundServer

/// The server's metadata object `default`, in which the session manager names the default sink.
final class DefaultMetadata: BoundObject {
  let id: UInt32
  private(set) var sinkName: String?

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
    guard subject == 0, key == nil || key == "default.audio.sink" else { return }
    sinkName = value.flatMap(nameInJSON)
    tell()
  }
}

/// Returns the text of the member `name` in a JSON object such as `{"name":"ears"}`. Returns nil if
/// there is none.
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
