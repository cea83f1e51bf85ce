// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import Synchronization

extension OutputSession {
  /// Asks for the stream; `attend` sees whether it comes.
  func openStream() {
    guard let context else { return }
    var format = pa_sample_spec(
      format: PA_SAMPLE_FLOAT32LE, rate: UInt32(configuration.sampleRate),
      channels: UInt8(StreamRenderer.channelCount))
    var map = pa_channel_map()
    pa_channel_map_init_stereo(&map)
    let properties = pa_proplist_new()
    defer { pa_proplist_free(properties) }
    pa_proplist_sets(properties, PA_PROP_MEDIA_ROLE, configuration.mediaRole)
    stream = pa_stream_new_with_proplist(
      context, configuration.mediaName, &format, &map, properties)
    guard let stream else { return lose(.sink, reason: lastError(of: context)) }
    listen(to: stream)
    renderer.pointee.beginQueue()
    queueFill.forget()
    configuredSinkMilliseconds = 0
    isToppedUp = isRewriting && !board.draft.isLatencyApproximate
    var attributes = attributes
    _ = pa_stream_connect_playback(
      stream, configuration.sinkName, &attributes, flags, nil, nil)
    loop.kick()
  }

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
    let asked = queueDepth.milliseconds
    let request = min(isToppedUp && isRewriting ? 5 : 10, asked / 4)
    let queue = asked - request
    let sink = max(request, configuredSinkMilliseconds)
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

  private var flags: pa_stream_flags_t {
    var flags =
      PA_STREAM_INTERPOLATE_TIMING.rawValue | PA_STREAM_AUTO_TIMING_UPDATE.rawValue
      | (isToppedUp ? PA_STREAM_ADJUST_LATENCY : PA_STREAM_EARLY_REQUESTS).rawValue
    if wantsPause { flags |= PA_STREAM_START_CORKED.rawValue }
    return pa_stream_flags_t(rawValue: flags)
  }

  private func listen(to stream: OpaquePointer) {
    pa_stream_set_write_callback(stream, streamWantsAudio, renderer)
    pa_stream_set_state_callback(stream, sessionStreamChanges, userdata)
    pa_stream_set_underflow_callback(stream, sessionStreamRunsDry, userdata)
    pa_stream_set_started_callback(stream, sessionStreamStarts, userdata)
    pa_stream_set_moved_callback(stream, sessionStreamMoves, userdata)
    pa_stream_set_suspended_callback(stream, sessionStreamSuspends, userdata)
    pa_stream_set_buffer_attr_callback(stream, sessionBufferChanges, userdata)
  }

  func closeStream() {
    guard let stream else { return }
    pa_stream_set_write_callback(stream, nil, nil)
    pa_stream_set_state_callback(stream, nil, nil)
    pa_stream_set_underflow_callback(stream, nil, nil)
    pa_stream_set_started_callback(stream, nil, nil)
    pa_stream_set_moved_callback(stream, nil, nil)
    pa_stream_set_suspended_callback(stream, nil, nil)
    pa_stream_set_buffer_attr_callback(stream, nil, nil)
    pa_stream_disconnect(stream)
    pa_stream_unref(stream)
    self.stream = nil
  }

  // MARK: What the server granted

  /// Called before the first write request, which needs the granted latency.
  func streamChanged() {
    if let stream, pa_stream_get_state(stream) == PA_STREAM_READY { readBuffer() }
    loop.kick()
  }

  func readBuffer() {
    guard let stream, let granted = pa_stream_get_buffer_attr(stream)?.pointee else { return }
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
    guard let stream else { return }
    let queue = board.draft.queueMilliseconds
    var sink = max(0, queueDepth.milliseconds - queue)
    if let timing = pa_stream_get_timing_info(stream)?.pointee {
      let configured = Double(timing.configured_sink_usec) / 1000
      noteConfiguredSink(configured)
      sink = max(configured, reportedSinkShare)
      board.draft.sinkLatencyMilliseconds = sink
    }
    renderer.pointee.grantedLatency = Int64((queue + sink) * 1e6)
  }

  /// Asks for the queue again where the sink turns out to read further ahead than it was asked to.
  private func noteConfiguredSink(_ milliseconds: Double) {
    guard isToppedUp, milliseconds > max(10, configuredSinkMilliseconds) + 1 else { return }
    configuredSinkMilliseconds = milliseconds
    setAttributes()
  }

  /// Where the stream is now.
  func readPlace() {
    guard let stream else { return }
    board.draft.sinkName = pa_stream_get_device_name(stream).map { String(cString: $0) } ?? ""
    sinkIndex = pa_stream_get_device_index(stream)
    sinkState = .unknown
    askSink()
  }

  // MARK: What befalls the stream

  func streamMoved() {
    if configuredSinkMilliseconds > 0 {
      configuredSinkMilliseconds = 0
      setAttributes()
    }
    readPlace()
    readBuffer()
    startRewriting()
    renderer.pointee.clock.relock()
    noteBeginning()
    board.post(.moved(sink: board.draft.sinkName))
  }

  func streamRanDry() {
    renderer.pointee.clock.relock()
    guard isRequestDue, monotonic_nanoseconds() >= underrunsCountFrom else { return }
    let total = board.counters.pointee.underruns.add(1, ordering: .relaxed).newValue
    board.post(.underrun(total: total))
    queueRanLow()
  }

  /// Until it starts, a null sink is two seconds deep, and what it then takes at once leaves little.
  func streamStarted() {
    lowCountsFrom = max(lowCountsFrom, monotonic_nanoseconds() + Self.settling)
    renderer.pointee.clock.relock()
    renderer.pointee.rewriter.margin.forgetReports()
    loop.kick()
  }

  func streamDrained() {
    guard isDraining else { return }
    isDraining = false
    isDrained = true
    board.post(.drained)
    loop.kick()
  }
}

private func sessionStreamChanges(_ stream: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?) {
  session(userdata)?.streamChanged()
}

private func sessionStreamRunsDry(_ stream: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?) {
  session(userdata)?.streamRanDry()
}

private func sessionStreamStarts(_ stream: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?) {
  session(userdata)?.streamStarted()
}

private func sessionStreamMoves(_ stream: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?) {
  session(userdata)?.streamMoved()
}

private func sessionStreamSuspends(
  _ stream: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?
) {
  session(userdata)?.loop.kick()
}

private func sessionBufferChanges(_ stream: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?) {
  session(userdata)?.readBuffer()
}

func sessionStreamDrained(
  _ stream: OpaquePointer?, _ success: Int32, _ userdata: UnsafeMutableRawPointer?
) {
  if success != 0 { session(userdata)?.streamDrained() }
}
