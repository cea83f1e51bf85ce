// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import SoundServer

/// A connection to a PulseAudio server.
///
/// ## Threading
/// Use an instance on the loop's thread or with the loop's lock held.
final class Connection: CallbackTarget {
  let loop: ThreadedLoop
  let address: String?
  private(set) var context: OpaquePointer?
  /// Whether a call of `askServer` has been answered since this property was last set to false.
  var isDescribed = false
  /// The time of the last answer to `askServer`, in CLOCK_MONOTONIC nanoseconds; 0 before the first
  /// answer.
  private(set) var lastAnswer: Int64 = 0
  /// The names of the default devices from the last answer; empty if unknown.
  private(set) var defaults = (sink: "", source: "")
  private(set) var isPipeWire = false
  /// Receives the server's answers to `askServer`, on the loop's thread.
  var onDescription: (pa_server_info) -> Void = { _ in }
  /// Called for each change of a kind that `subscribe` requested, with the index of the changed
  /// object.
  var onEvent: (pa_subscription_event_type_t, UInt32) -> Void = { _, _ in }
  /// Called on the loop's thread when the server accepts the connection.
  var onReady: () -> Void = {}
  private let applicationName: String

  init(loop: ThreadedLoop, address: String?, applicationName: String = "Stillstage") {
    (self.loop, self.address, self.applicationName) = (loop, address, applicationName)
  }

  /// Whether the connection is being set up or is ready.
  var isGood: Bool { context.map { PA_CONTEXT_IS_GOOD(pa_context_get_state($0)) != 0 } ?? false }

  /// Whether the server has accepted the connection.
  var isReady: Bool { context.map { pa_context_get_state($0) == PA_CONTEXT_READY } ?? false }

  var lastError: String {
    guard let context, let text = pa_strerror(pa_context_errno(context)) else {
      return "cannot create a context"
    }
    return String(cString: text)
  }

  /// Closes the previous connection and begins a new one, without starting a server. `context` is
  /// nil if libpulse cannot create a context.
  func open() {
    close()
    let properties = pa_proplist_new()
    defer { pa_proplist_free(properties) }
    pa_proplist_sets(properties, PA_PROP_APPLICATION_NAME, applicationName)
    context = pa_context_new_with_proplist(loop.api, applicationName, properties)
    guard let context else { return }
    pa_context_set_state_callback(
      context, { Connection.with($1) { $0.stateChanged() } }, userdata)
    pa_context_set_subscribe_callback(
      context, { _, event, index, this in Connection.with(this) { $0.onEvent(event, index) } },
      userdata)
    // Ignore the result: a failure also changes the context's state.
    _ = pa_context_connect(context, address, PA_CONTEXT_NOAUTOSPAWN, nil)
  }

  private func stateChanged() {
    if isReady { onReady() }
    loop.kick()
  }

  /// Closes the connection without waiting for the server.
  func close() {
    guard let context else { return }
    pa_context_set_state_callback(context, nil, nil)
    pa_context_set_subscribe_callback(context, nil, nil)
    pa_context_disconnect(context)
    pa_context_unref(context)
    self.context = nil
    isDescribed = false
  }

  /// Requests calls of `onEvent` for changes to objects of `kind`, to cards and to the server.
  func subscribe(to kind: pa_subscription_mask_t) {
    guard let context else { return }
    let changes = pa_subscription_mask_t(
      rawValue: kind.rawValue | PA_SUBSCRIPTION_MASK_SERVER.rawValue
        | PA_SUBSCRIPTION_MASK_CARD.rawValue)
    release(pa_context_subscribe(context, changes, nil, nil))
  }

  func askServer() {
    guard let context else { return }
    release(
      pa_context_get_server_info(
        context, { _, info, this in Connection.with(this) { $0.take(info) } }, userdata))
  }

  private func take(_ info: UnsafePointer<pa_server_info>?) {
    if let info {
      lastAnswer = monotonic_nanoseconds()
      defaults.sink = info.pointee.default_sink_name.map { String(cString: $0) } ?? ""
      defaults.source = info.pointee.default_source_name.map { String(cString: $0) } ?? ""
      isPipeWire =
        info.pointee.server_name.map { String(cString: $0).contains("PipeWire") } ?? false
      onDescription(info.pointee)
    }
    if !isDescribed { loop.kick() }
    isDescribed = true
  }
}

func isGood(stream: OpaquePointer) -> Bool {
  PA_STREAM_IS_GOOD(pa_stream_get_state(stream)) != 0
}

/// Releases the caller's reference to an operation without cancelling it. Does nothing for nil.
func release(_ operation: OpaquePointer?) {
  if let operation { pa_operation_unref(operation) }
}
