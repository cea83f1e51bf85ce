// SPDX-License-Identifier: Apache-2.0

import CPipeWire
internal import SoundServer

/// A server object that this client follows, with its properties and parameters.
///
/// ## Threading
/// Use an instance on the loop's thread or with the loop's lock held.
class BoundObject: CallbackTarget {
  private(set) var proxy: UnsafeMutableRawPointer?
  private(set) var properties: [String: String] = [:]
  private let library: PipeWireLibrary
  /// Called after each request for a parameter.
  private let ask: () -> Void
  /// Called when the object changes.
  let tell: () -> Void
  /// The flags of the parameters that `update` has requested, by parameter ID. A parameter's flags
  /// change when its values change.
  private var flags: [UInt32: UInt32] = [:]
  private var removeListener: () -> Void = {}

  init(
    _ proxy: UnsafeMutableRawPointer?, _ library: PipeWireLibrary, ask: @escaping () -> Void,
    tell: @escaping () -> Void
  ) {
    (self.proxy, self.library, self.ask, self.tell) = (proxy, library, ask, tell)
  }

  /// Keeps the table of callbacks until the object is released.
  func hold<Events>(_ listener: Listener<Events>) { removeListener = { listener.remove() } }

  func release() {
    removeListener()
    removeListener = {}
    if let proxy { library.functions.pointee.pw_proxy_destroy(OpaquePointer(proxy)) }
    proxy = nil
  }

  deinit { release() }

  /// Replaces `properties` with the entries of `dictionary`. Does nothing if `dictionary` or its
  /// array of entries is nil.
  func take(_ dictionary: UnsafePointer<spa_dict>?) {
    guard let dictionary = dictionary?.pointee, let items = dictionary.items else { return }
    properties = [:]
    for index in 0..<Int(dictionary.n_items) {
      guard let key = items[index].key, let value = items[index].value else { continue }
      properties[String(cString: key)] = String(cString: value)
    }
  }

  /// For each parameter in `wanted` that is new or whose values have changed, calls `request` with
  /// its ID and then `ask`.
  func update(
    _ parameters: UnsafePointer<spa_param_info>?, count: UInt32, wanted: [UInt32],
    request: (UInt32) -> Void
  ) {
    for index in 0..<Int(count) {
      guard let info = parameters?[index], wanted.contains(info.id),
        flags[info.id] != info.flags
      else { continue }
      flags[info.id] = info.flags
      request(info.id)
      ask()
    }
  }
}
