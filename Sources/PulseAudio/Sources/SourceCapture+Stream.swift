// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import SoundServer

extension SourceCapture {
  func open(_ source: Source) -> Bool {
    let format = SourceFormat(
      sampleRate: source.sampleRate, channelMap: source.channelMap, encoding: source.encoding)
    self.format = format
    var specification = pa_sample_spec(
      format: format.encoding.pulseFormat, rate: UInt32(format.sampleRate),
      channels: UInt8(format.channelCount))
    var map = channelMap(format.channelMap)
    guard let context = connection.context,
      let stream = pa_stream_new(context, "Recording", &specification, &map)
    else { return false }
    self.stream = stream
    pa_stream_set_read_callback(
      stream, { _, _, this in SourceCapture.with(this) { $0.receive() } }, userdata)
    pa_stream_set_state_callback(
      stream, { SourceCapture.with($1) { $0.loop.kick() } }, userdata)
    pa_stream_set_suspended_callback(
      stream, { SourceCapture.with($1) { $0.loop.kick() } }, userdata)
    pa_stream_set_moved_callback(
      stream, { SourceCapture.with($1) { $0.streamMoved() } }, userdata)
    let frame = format.encoding.bytes * format.channelCount
    let fragment = max(1, Int(fragmentMilliseconds * Double(format.sampleRate) / 1000))
    var attributes = pa_buffer_attr(
      maxlength: .max, tlength: .max, prebuf: .max, minreq: .max,
      fragsize: UInt32(fragment * frame))
    let flags = pa_stream_flags_t(
      rawValue: PA_STREAM_INTERPOLATE_TIMING.rawValue | PA_STREAM_AUTO_TIMING_UPDATE.rawValue
        | PA_STREAM_ADJUST_LATENCY.rawValue | PA_STREAM_DONT_MOVE.rawValue
        | PA_STREAM_NO_REMAP_CHANNELS.rawValue)
    return pa_stream_connect_record(stream, sourceName, &attributes, flags) >= 0
  }

  func closeStream() {
    guard let stream else { return }
    pa_stream_set_read_callback(stream, nil, nil)
    pa_stream_set_state_callback(stream, nil, nil)
    pa_stream_set_suspended_callback(stream, nil, nil)
    pa_stream_set_moved_callback(stream, nil, nil)
    pa_stream_disconnect(stream)
    pa_stream_unref(stream)
    self.stream = nil
  }

  func report(_ event: SourceCaptureEvent) {
    receiver.receive(event, timeNanoseconds: monotonic_nanoseconds())
  }

  // MARK: Reading

  private func receive() {
    guard let stream, let format, phase == .running else { return }
    while pa_stream_readable_size(stream) > 0 {
      var latency: Int64 = 0
      let isKnown = pulse_latency_nanoseconds(stream, &latency) >= 0
      let now = monotonic_nanoseconds()
      lastBlock = now
      var memory: UnsafeRawPointer?
      var size = 0
      guard pa_stream_peek(stream, &memory, &size) >= 0, size > 0 else { return }
      hand(
        memory, frames: size / (format.encoding.bytes * format.channelCount), format, now,
        isKnown ? now - latency : nil)
      pa_stream_drop(stream)
    }
  }

  /// Passes recorded frames to the receiver. Nil `memory` means that the server lost the frames.
  private func hand(
    _ memory: UnsafeRawPointer?, frames: Int, _ format: SourceFormat, _ now: Int64,
    _ captured: Int64?
  ) {
    let channels = format.channelCount
    var done = 0
    while done < frames {
      let isDirect = memory == nil || format.encoding == .float32 || format.encoding == .other
      let count = isDirect ? frames : min(frames - done, Self.scratchSamples / channels)
      var samples = memory?.assumingMemoryBound(to: Float.self)
      if let memory, !isDirect {
        format.encoding.convert(
          memory + done * channels * format.encoding.bytes, to: scratch, count: count * channels)
        samples = UnsafePointer(scratch)
      }
      let offset = Int64(done) * 1_000_000_000 / Int64(format.sampleRate)
      receiver.receive(
        SourceBlock(
          samples: samples, frameCount: count, channelCount: channels,
          arrivalTimeNanoseconds: now, captureTimeNanoseconds: captured.map { $0 + offset }))
      done += count
    }
  }

  // MARK: Losses

  func loseServer(reason: String? = nil, isSilent: Bool = false) {
    let reason = reason ?? connection.lastError
    let place = describeServerAddress(connection.address)
    lose(
      .serverLost(reason: reason),
      failure: isSilent
        ? .serverSilent(address: place, milliseconds: timeoutMilliseconds)
        : .noServer(address: place, reason: reason))
    connection.close()
  }

  func loseSource(reason: String, failure: SoundServerError? = nil) {
    lose(.sourceLost(reason: reason), failure: failure ?? .streamRefused(reason: reason))
  }

  /// Reports a loss once, and schedules the next attempt. Before the first success, the capture
  /// fails instead.
  private func lose(_ event: SourceCaptureEvent, failure: SoundServerError) {
    closeStream()
    if attempts.hasSucceeded {
      if !isLossReported { report(event) }
      isLossReported = true
      phase = .waiting
      attempts.postpone(now: monotonic_nanoseconds())
    } else {
      attempts.failure = failure
      phase = .failed
    }
    loop.signal()
  }

  /// Reports the event, closes the stream and begins to open it again.
  func reopen(_ event: SourceCaptureEvent) {
    report(event)
    isLossReported = true
    closeStream()
    attempts.begin(now: monotonic_nanoseconds())
    askSources()
    loop.kick()
  }

  // MARK: The server

  func streamMoved() {
    isMoved = true
    loop.kick()
  }

  func objectChanged() {
    isSourceStale = true
    loop.kick()
  }

  /// Requests the source's description. If the format differs, the stream is opened again.
  func askSource() {
    isSourceStale = false
    guard let context = connection.context else { return }
    release(
      pa_context_get_source_info_by_name(
        context, sourceName,
        { _, info, end, this in
          if let info, end == 0 { SourceCapture.with(this) { $0.take(Source(info.pointee)) } }
        }, userdata))
  }

  private func take(_ source: Source) {
    guard phase == .running, let format else { return }
    let isSame =
      source.sampleRate == format.sampleRate && source.channelMap == format.channelMap
      && source.encoding == format.encoding
    if !isSame { reopen(.formatChanged) }
  }
}
