// SPDX-License-Identifier: Apache-2.0

/// An object that a server's library passes to its callbacks. The object's owner keeps it alive.
///
/// The callbacks are closures in nonisolated functions: an isolated closure would trap on the
/// library's thread.
package protocol CallbackTarget: AnyObject {}

extension CallbackTarget {
  package var userdata: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// Calls `body` with the object, without retaining it. A retained object could be released last
  /// by the library's thread; its `deinit` would then wait for the end of the thread that it runs
  /// on.
  @inlinable
  package static func with(_ userdata: UnsafeMutableRawPointer?, _ body: (Self) -> Void) {
    guard let userdata else { return }
    Unmanaged<Self>.fromOpaque(userdata)._withUnsafeGuaranteedRef(body)
  }
}
