// SPDX-License-Identifier: Apache-2.0

import CPulse

/// An object that libpulse passes to its callbacks; its owner keeps it alive.
///
/// The callbacks are closures in nonisolated functions: an isolated one would trap on libpulse's
/// thread.
protocol CallbackTarget: AnyObject {}

extension CallbackTarget {
  var userdata: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// Calls `body` with the object. It is not retained: if libpulse's thread released it last, the
  /// object would wait in its `deinit` for the end of that very thread.
  static func with(_ userdata: UnsafeMutableRawPointer?, _ body: (Self) -> Void) {
    guard let userdata else { return }
    Unmanaged<Self>.fromOpaque(userdata)._withUnsafeGuaranteedRef(body)
  }
}

/// The text of a context's last error.
func lastError(of context: OpaquePointer?) -> String {
  guard let context, let text = pa_strerror(pa_context_errno(context)) else { return "no context" }
  return String(cString: text)
}

/// A connection in the making: its state callback is the caller's to set up in `prepare`.
///
/// The server is never started by this call: that would block, and it is the desktop's to do.
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
  // A refusal shows in the context's state, which the caller watches anyway.
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

/// Asks for a call of the context's subscribe callback when a sink, a card or the server changes.
func subscribeToSinks(_ context: OpaquePointer) {
  let changes = pa_subscription_mask_t(
    rawValue: PA_SUBSCRIPTION_MASK_SINK.rawValue | PA_SUBSCRIPTION_MASK_SERVER.rawValue
      | PA_SUBSCRIPTION_MASK_CARD.rawValue)
  release(pa_context_subscribe(context, changes, nil, nil))
}

/// Lets go of an operation, which goes on by itself; nil is one that could not begin.
func release(_ operation: OpaquePointer?) {
  if let operation { pa_operation_unref(operation) }
}
