// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
public import SoundServer

/// Records a sink or a source as stereo float32.
///
/// A capture ends when its sink, source or server is lost.
///
/// ## Threading
/// The receiver is called on a thread that the capture owns. Call `stop` and `failure` on any other
/// thread.
public final class MonitorCapture: CallbackTarget, @unchecked Sendable {
  /// Called on the capture's thread with each fragment of recorded audio.
  ///
  /// - Parameters:
  ///   - interleaved: the samples, frames x 2, valid during the call. They are 0 where the server
  ///     had no audio.
  ///   - captureTimeNanoseconds: the time at which the first frame was played or recorded, in
  ///     CLOCK_MONOTONIC nanoseconds; nil before the server's first timing report.
  public typealias Receiver =
    @Sendable (
      _ interleaved: UnsafeBufferPointer<Float>, _ captureTimeNanoseconds: Int64?
    ) -> Void

  static let bytesPerFrame = 2 * MemoryLayout<Float>.stride

  private let client: ClientConnection
  private var connection: Connection { client.connection }
  private let receiver: Receiver
  private var stream: OpaquePointer?
  private var isStopped = false

  /// Starts recording. Returns when the stream is open.
  ///
  /// - Parameters:
  ///   - serverAddress: see `AudioOutputConfiguration.serverAddress`.
  ///   - sinkName: the sink to record; nil for the default sink or, if there is none, the first
  ///     sink. Ignored if `sourceName` is set.
  ///   - sourceName: the source to record; nil to record a sink.
  ///   - sampleRate: the sample rate of the recording, 1 to 384000 [Hz].
  ///   - fragmentMilliseconds: the requested interval between deliveries of audio.
  ///   - timeoutMilliseconds: the longest total wait for the server's answers.
  /// - Throws: `unsupportedSampleRate`, `unknownSink`, `noSink`, `streamRefused`, `noServer`,
  ///   `serverSilent` or `systemFailure`.
  public init(
    serverAddress: String? = nil, sinkName: String? = nil, sourceName: String? = nil,
    sampleRate: Int = 48_000, fragmentMilliseconds: Double = 10, timeoutMilliseconds: Int = 2000,
    receiver: @escaping Receiver
  ) throws(SoundServerError) {
    try SoundServerError.check(sampleRate: sampleRate)
    self.receiver = receiver
    client = try ClientConnection(
      serverAddress: serverAddress, applicationName: "Stillstage",
      timeoutMilliseconds: timeoutMilliseconds)
    let fragment = UInt32(max(1, fragmentMilliseconds * Double(sampleRate) / 1000))
    do {
      try client.loop.locked { () throws(SoundServerError) in
        let source = if let sourceName { sourceName } else { try monitor(of: sinkName) }
        try open(source, sampleRate: UInt32(sampleRate), fragmentFrames: fragment)
      }
    } catch {
      client.loop.stop()
      closeStream()
      throw error
    }
  }

  deinit { stop() }

  /// The reason for the end of the capture; nil while it runs and after `stop`.
  public var failure: String? {
    client.loop.locked {
      guard let stream, !isGood(stream: stream) else { return nil }
      return connection.lastError
    }
  }

  /// Ends the capture. The receiver is not called after `stop` returns.
  public func stop() {
    let isFirst = client.loop.locked {
      defer { isStopped = true }
      return !isStopped
    }
    guard isFirst else { return }
    client.loop.stop()
    closeStream()
    client.close()
  }

  private func monitor(of sinkName: String?) throws(SoundServerError) -> String {
    let sinks: [Sink] = try client.devices()
    if let sinkName {
      guard sinks.contains(where: { $0.name == sinkName }) else {
        throw .unknownSink(name: sinkName, available: sinks.map(\.name))
      }
      return sinkName + ".monitor"
    }
    guard let sink = sinks.first(where: \.isDefault) ?? sinks.first else {
      throw .noSink(address: describeServerAddress(connection.address))
    }
    return sink.name + ".monitor"
  }

  private func open(
    _ source: String, sampleRate: UInt32, fragmentFrames: UInt32
  ) throws(SoundServerError) {
    var format = pa_sample_spec(format: PA_SAMPLE_FLOAT32LE, rate: sampleRate, channels: 2)
    var map = pa_channel_map()
    pa_channel_map_init_stereo(&map)
    guard let stream = pa_stream_new(connection.context, "Capture", &format, &map) else {
      throw .streamRefused(reason: connection.lastError)
    }
    self.stream = stream
    pa_stream_set_read_callback(
      stream, { _, _, this in MonitorCapture.with(this) { $0.receive() } }, userdata)
    pa_stream_set_state_callback(
      stream, { MonitorCapture.with($1) { $0.client.loop.signal() } }, userdata)
    var attributes = pa_buffer_attr(
      maxlength: .max, tlength: .max, prebuf: .max, minreq: .max,
      fragsize: fragmentFrames * UInt32(Self.bytesPerFrame))
    let flags = pa_stream_flags_t(
      rawValue: PA_STREAM_INTERPOLATE_TIMING.rawValue | PA_STREAM_AUTO_TIMING_UPDATE.rawValue
        | PA_STREAM_ADJUST_LATENCY.rawValue | PA_STREAM_DONT_MOVE.rawValue)
    _ = pa_stream_connect_record(stream, source, &attributes, flags)
    try client.wait { _ in pa_stream_get_state(stream) != PA_STREAM_CREATING }
    guard pa_stream_get_state(stream) == PA_STREAM_READY else {
      throw .streamRefused(reason: connection.lastError)
    }
  }

  private func closeStream() {
    guard let stream else { return }
    pa_stream_set_read_callback(stream, nil, nil)
    pa_stream_set_state_callback(stream, nil, nil)
    pa_stream_disconnect(stream)
    pa_stream_unref(stream)
    self.stream = nil
  }

  private func receive() {
    guard let stream else { return }
    while pa_stream_readable_size(stream) > 0 {
      var latency: Int64 = 0
      let isKnown = pulse_latency_nanoseconds(stream, &latency) >= 0
      let time = isKnown ? monotonic_nanoseconds() - latency : nil
      var memory: UnsafeRawPointer?
      var size = 0
      guard pa_stream_peek(stream, &memory, &size) >= 0, size > 0 else { return }
      hand(memory, count: size / MemoryLayout<Float>.stride, time: time)
      pa_stream_drop(stream)
    }
  }

  private func hand(_ memory: UnsafeRawPointer?, count: Int, time: Int64?) {
    if let memory {
      let samples = memory.assumingMemoryBound(to: Float.self)
      receiver(UnsafeBufferPointer(start: samples, count: count), time)
    } else {
      [Float](repeating: 0, count: count).withUnsafeBufferPointer { receiver($0, time) }
    }
  }
}
