// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime

/// The buffer that is asked for and the one that is granted.
extension OutputStream {
  var isRewriting: Bool { board.draft.rewriting == .active }

  /// The sink is to read little ahead, so that the rest stays in the stream's own queue, which can
  /// be written over: a server that is left to itself would give half to the sink.
  ///
  /// With early requests the sink reads as far ahead as a request is large. With the latency
  /// adjusted it gets half of what two requests leave, so that large requests make it small; a sink
  /// that takes more all the same is granted it, or the queue would be deeper than asked.
  ///
  /// The stream begins, and begins again after it ran dry, with three quarters of its queue: what
  /// `leastFill` leaves open is never waited for.
  var attributes: pa_buffer_attr {
    let asked = depth.milliseconds
    let request = min(isToppedUp && isRewriting ? 5 : 10, asked / 4)
    let queue = asked - request
    let sink = max(request, place.configuredMilliseconds)
    return pa_buffer_attr(
      maxlength: .max, tlength: bytes(milliseconds: isToppedUp ? queue + sink : queue),
      prebuf: bytes(milliseconds: 0.75 * queue),
      minreq: bytes(milliseconds: isToppedUp ? max(request, (queue - sink) / 2) : request),
      fragsize: .max)
  }

  private func bytes(milliseconds: Double) -> UInt32 {
    let frames = milliseconds * Double(configuration.sampleRate) / 1000
    return UInt32(max(1, frames)) * UInt32(StreamRenderer.bytesPerFrame)
  }

  private func setAttributes() {
    guard let running else { return }
    var attributes = attributes
    release(
      pa_stream_set_buffer_attr(
        running, &attributes, { if $1 != 0 { OutputStream.with($2) { $0.readBuffer() } } }, userdata
      ))
  }

  // MARK: What the server granted

  func readBuffer() {
    guard let handle, let granted = pa_stream_get_buffer_attr(handle)?.pointee else { return }
    let bytesPerMillisecond =
      Double(configuration.sampleRate * StreamRenderer.bytesPerFrame) / 1000
    board.draft.queueMilliseconds = Double(granted.tlength) / bytesPerMillisecond
    board.draft.minimumRequestMilliseconds = Double(granted.minreq) / bytesPerMillisecond
    let spare = Int(granted.tlength) - Int(min(granted.prebuf, granted.tlength))
    let wanted = bytes(milliseconds: min(20, board.draft.queueMilliseconds / 8))
    renderer.pointee.leastFill = min(spare, Int(wanted))
    readLatency()
  }

  /// The sink's share is known from the first timing report on; until then it is taken to be what
  /// the request leaves for it.
  func readLatency() {
    guard let handle else { return }
    let queue = board.draft.queueMilliseconds
    var sink = max(0, depth.milliseconds - queue)
    if let timing = pa_stream_get_timing_info(handle)?.pointee {
      let configured = Double(timing.configured_sink_usec) / 1000
      noteConfiguredSink(configured)
      sink = max(configured, place.reportedMilliseconds)
      board.draft.sinkLatencyMilliseconds = sink
    }
    renderer.pointee.grantedLatency = Int64((queue + sink) * 1e6)
  }

  /// Asks for the queue again where the sink turns out to read further ahead than it was asked to.
  private func noteConfiguredSink(_ milliseconds: Double) {
    guard isToppedUp, milliseconds > max(10, place.configuredMilliseconds) + 1 else { return }
    place.configuredMilliseconds = milliseconds
    setAttributes()
  }

  /// Forgets how far the last sink read ahead, and asks for a queue without its share.
  func forgetConfiguredSink() {
    guard place.configuredMilliseconds > 0 else { return }
    place.configuredMilliseconds = 0
    setAttributes()
  }

  // MARK: The queue's depth

  func setRewriting(_ rewriting: QueueRewriting) {
    board.draft.rewriting = rewriting
    if depth.setRewritten(rewriting == .active, now: monotonic_nanoseconds()) {
      applyDepth()
    } else {
      postQueue()
    }
  }

  /// Changes the depth, and asks the server for it if it is another then.
  func adaptDepth(_ change: (inout QueueDepth) -> Bool) {
    if change(&depth) { applyDepth() }
  }

  /// The server fills up a deeper queue by asking for more at once, and lets a shallower one drain.
  private func applyDepth() {
    board.draft.requestedLatencyMilliseconds = depth.milliseconds
    postQueue()
    setAttributes()
  }

  private func postQueue() {
    board.post(.queueChanged(milliseconds: depth.milliseconds, rewriting: board.draft.rewriting))
  }
}
