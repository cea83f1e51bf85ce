// SPDX-License-Identifier: Apache-2.0

import CPipeWire
import Glibc
internal import SoundServer

/// The functions of libpipewire, which is loaded on first use.
struct PipeWireLibrary: @unchecked Sendable {
  /// Valid until the process ends, because the library is never unloaded.
  let functions: UnsafePointer<pipewire_library>

  private static let loaded: Result<PipeWireLibrary, SoundServerError> = {
    let functions = UnsafeMutablePointer<pipewire_library>.allocate(capacity: 1)
    functions.initialize(to: pipewire_library())
    if let missing = pipewire_load(functions) {
      let name = String(cString: missing)
      return .failure(
        .noPipeWire(
          reason: name.hasSuffix(".so.0")
            ? "\(name) is not installed" : "the installed libpipewire has no function \(name)"))
    }
    functions.pointee.pw_init(nil, nil)
    // Turn off the library's log unless the user has configured it.
    if getenv("PIPEWIRE_DEBUG") == nil { functions.pointee.pw_log_set_level(SPA_LOG_LEVEL_NONE) }
    return .success(PipeWireLibrary(functions: UnsafePointer(functions)))
  }()

  /// Returns the library. The first call loads it.
  ///
  /// - Throws: `noPipeWire` if libpipewire is not installed or is older than version 0.3.50.
  static func load() throws(SoundServerError) -> PipeWireLibrary { try loaded.get() }

  /// Returns new properties without the nil values. The caller must pass the properties to a
  /// libpipewire function that takes ownership of them.
  func properties(_ values: KeyValuePairs<String, String?>) -> OpaquePointer? {
    var none = spa_dict()
    guard let properties = functions.pointee.pw_properties_new_dict(&none) else { return nil }
    for case (let key, let value?) in values {
      _ = functions.pointee.pw_properties_set(properties, key, value)
    }
    return OpaquePointer(properties)
  }
}

/// A libpipewire callback table and its hook, both at fixed addresses.
final class Listener<Events> {
  let events: UnsafeMutablePointer<Events>
  let hook: UnsafeMutablePointer<spa_hook>

  init(_ table: Events) {
    events = .allocate(capacity: 1)
    events.initialize(to: table)
    hook = .allocate(capacity: 1)
    hook.initialize(to: spa_hook())
  }

  /// Stops the callbacks. Call this function before the observed object is destroyed.
  func remove() { pipewire_remove_hook(hook) }

  deinit {
    events.deallocate()
    hook.deallocate()
  }
}
