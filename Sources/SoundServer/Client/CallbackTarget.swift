// SPDX-License-Identifier: Apache-2.0

/// An object that a sound server's client library passes to callbacks of this program. The object's
/// owner keeps it alive.
///
/// The callbacks are closures in nonisolated functions, because a closure that is isolated to an
/// actor would trap on the library's thread.
package protocol CallbackTarget: AnyObject {}

extension CallbackTarget {
  package var userdata: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// Calls `body` with the object without retaining it; does nothing for nil. If the library's
  /// thread released the last reference, `deinit` would run on that thread and would have to wait
  /// for the same thread to end.
  @inlinable
  package static func with(_ userdata: UnsafeMutableRawPointer?, _ body: (Self) -> Void) {
    guard let userdata else { return }
    Unmanaged<Self>.fromOpaque(userdata)._withUnsafeGuaranteedRef(body)
  }
}
