// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import SoundServer

extension OutputStream {
  var isRewriting: Bool { board.draft.rewriting == .active }

  /// The buffer attributes to request.
  ///
  /// They keep the sink's read-ahead short, because only the stream's own queue can be rewritten.
  ///
  /// With PA_STREAM_EARLY_REQUESTS, the sink reads ahead by the size of a request. With
  /// PA_STREAM_ADJUST_LATENCY, it reads ahead by (tlength - 2 minreq) / 2, so a large `minreq`
  /// keeps the read-ahead short.
  ///
  /// The server starts playing when `prebuf` bytes are queued: three quarters of `queue`, or half
  /// of it if the stream is written in large pieces.
  var attributes: pa_buffer_attr {
    let asked = depth.milliseconds
    let request = min(isToppedUp && isRewriting ? 5 : 10, asked / 4)
    let queue = asked - request
    let sink = max(request, place.configuredMilliseconds)
    return pa_buffer_attr(
      maxlength: .max, tlength: bytes(milliseconds: isToppedUp ? queue + sink : queue),
      prebuf: bytes(milliseconds: (configuration.writesLargePieces ? 0.5 : 0.75) * queue),
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

  // MARK: The granted buffer

  /// Reads the granted buffer attributes, and derives `leastFill` and the granted latency.
  func readBuffer() {
    guard let handle, let granted = pa_stream_get_buffer_attr(handle)?.pointee else { return }
    let bytesPerMillisecond =
      Double(configuration.sampleRate * StreamRenderer.bytesPerFrame) / 1000
    board.draft.queueMilliseconds = Double(granted.tlength) / bytesPerMillisecond
    board.draft.minimumRequestMilliseconds = Double(granted.minreq) / bytesPerMillisecond
    let spare = Int(granted.tlength) - Int(min(granted.prebuf, granted.tlength))
    let wanted = bytes(milliseconds: min(20, board.draft.queueMilliseconds / 8))
    renderer.pointee.leastFill = min(
      spare, configuration.writesLargePieces ? Int(granted.minreq) : Int(wanted))
    readLatency()
  }

  /// Updates the granted latency, the sum of the queue's depth and the sink's latency. Before the
  /// first timing report, the sink's latency is assumed to be the requested latency minus the
  /// queue's depth, but at least 0.
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

  /// Requests a new buffer for a topped-up stream if the sink reads more than 1 ms further ahead
  /// than assumed. Does nothing if the read-ahead is at most 11 ms.
  private func noteConfiguredSink(_ milliseconds: Double) {
    guard isToppedUp, milliseconds > max(10, place.configuredMilliseconds) + 1 else { return }
    place.configuredMilliseconds = milliseconds
    setAttributes()
  }

  /// Forgets the previous sink's read-ahead. Requests a new buffer if the last request took that
  /// read-ahead into account.
  func forgetConfiguredSink() {
    guard place.configuredMilliseconds > 0 else { return }
    place.configuredMilliseconds = 0
    setAttributes()
  }

  // MARK: The queue's depth

  /// Changes the state of rewriting, adapts the depth and posts `queueChanged`.
  func setRewriting(_ rewriting: QueueRewriting) {
    board.draft.rewriting = rewriting
    if depth.setRewritten(rewriting == .active, now: monotonic_nanoseconds()) {
      applyDepth()
    } else {
      postQueue()
    }
  }

  /// Applies `change` to the depth. If `change` returns true, requests the new depth and posts
  /// `queueChanged`.
  func adaptDepth(_ change: (inout QueueDepth) -> Bool) {
    if change(&depth) { applyDepth() }
  }

  /// Requests the new depth and posts `queueChanged`.
  private func applyDepth() {
    board.draft.requestedLatencyMilliseconds = depth.milliseconds
    postQueue()
    setAttributes()
  }

  private func postQueue() {
    board.post(.queueChanged(milliseconds: depth.milliseconds, rewriting: board.draft.rewriting))
  }
}
