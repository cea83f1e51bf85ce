// SPDX-License-Identifier: Apache-2.0

import CHIDAPI
import Synchronization

/// The process-wide part of hidapi. Opening shares global state (the error text), so only one
/// thread at a time goes through here.
enum HIDLibrary {
  private static let lock = Mutex<Bool>(false)

  /// Opens a node, after asking the kernel whether that can be done.
  static func open(_ path: String) throws(HIDOpenFailure) -> OpaquePointer {
    let result: Result<OpaquePointer, HIDOpenFailure> = lock.withLock { isReady in
      if !isReady { isReady = hid_init() == 0 }
      let error = hidraw_check(path)
      guard error == 0 else { return .failure(HIDOpenFailure(error: error)) }
      guard let handle = hid_open_path(path) else { return .failure(HIDOpenFailure(error: EIO)) }
      nonisolated(unsafe) let opened = handle
      return .success(opened)
    }
    return try result.get()
  }
}

/// The errno that kept a node from being opened.
struct HIDOpenFailure: Error {
  var error: Int32
}

extension String {
  var trimmingBlanks: String {
    var text = self[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
