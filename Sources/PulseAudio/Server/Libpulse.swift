// SPDX-License-Identifier: Apache-2.0

import CPulse

/// An object that libpulse passes to its callbacks. The object's owner keeps it alive.
///
/// The callbacks are closures in nonisolated functions: an isolated closure would trap on
/// libpulse's thread.
protocol CallbackTarget: AnyObject {}

extension CallbackTarget {
  var userdata: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// Calls `body` with the object, without retaining it. A retained object could be released last
  /// by libpulse's thread; its `deinit` would then wait for the end of the thread that it runs on.
  static func with(_ userdata: UnsafeMutableRawPointer?, _ body: (Self) -> Void) {
    guard let userdata else { return }
    Unmanaged<Self>.fromOpaque(userdata)._withUnsafeGuaranteedRef(body)
  }
}

/// Returns the text of a context's last error, or a fixed text if there is no context.
func lastError(of context: OpaquePointer?) -> String {
  guard let context, let text = pa_strerror(pa_context_errno(context)) else {
    return "cannot create a context"
  }
  return String(cString: text)
}

/// Begins to connect to a server. The caller sets the context's callbacks in `prepare`. Returns nil
/// if libpulse cannot create a context.
///
/// This call never starts a server: that would block, and it is the desktop's task.
func openContext(
  loop: ThreadedLoop, applicationName: String, address: String?,
  prepare: (OpaquePointer) -> Void
) -> OpaquePointer? {
  let properties = pa_proplist_new()
  defer { pa_proplist_free(properties) }
  pa_proplist_sets(properties, PA_PROP_APPLICATION_NAME, applicationName)
  guard
    let context = pa_context_new_with_proplist(loop.api, applicationName, properties)
  else { return nil }
  prepare(context)
  // A refusal appears in the context's state, which the caller watches in any case.
  _ = pa_context_connect(context, address, PA_CONTEXT_NOAUTOSPAWN, nil)
  return context
}

/// Ends a connection without waiting for the server.
func closeContext(_ context: OpaquePointer) {
  pa_context_set_state_callback(context, nil, nil)
  pa_context_set_subscribe_callback(context, nil, nil)
  pa_context_disconnect(context)
  pa_context_unref(context)
}

func isGood(_ context: OpaquePointer) -> Bool {
  PA_CONTEXT_IS_GOOD(pa_context_get_state(context)) != 0
}

func isGood(stream: OpaquePointer) -> Bool {
  PA_STREAM_IS_GOOD(pa_stream_get_state(stream)) != 0
}

/// Requests calls of the context's subscribe callback whenever a sink, a card or the server
/// changes.
func subscribeToSinks(_ context: OpaquePointer) {
  let changes = pa_subscription_mask_t(
    rawValue: PA_SUBSCRIPTION_MASK_SINK.rawValue | PA_SUBSCRIPTION_MASK_SERVER.rawValue
      | PA_SUBSCRIPTION_MASK_CARD.rawValue)
  release(pa_context_subscribe(context, changes, nil, nil))
}

/// Releases the caller's reference to an operation, which continues. Does nothing if `operation` is
/// nil because the operation could not start.
func release(_ operation: OpaquePointer?) {
  if let operation { pa_operation_unref(operation) }
}
