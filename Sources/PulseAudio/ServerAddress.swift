// SPDX-License-Identifier: Apache-2.0

import CPulse
import Glibc

/// How to say where a server was looked for.
func describeServerAddress(_ address: String?) -> String {
  if let address { return address }
  if let named = getenv("PULSE_SERVER") { return "PULSE_SERVER=\(String(cString: named))" }
  if let directory = getenv("XDG_RUNTIME_DIR") {
    return "\(String(cString: directory))/pulse/native (PULSE_SERVER is not set)"
  }
  return "the user's default address (neither PULSE_SERVER nor XDG_RUNTIME_DIR is set)"
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
