// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CPulse
import Glibc
import SoundServer

/// Supplies a virtual sink's sound from the monitor of a module-null-sink.
///
/// ## Threading
/// libpulse's thread writes to the clock bridge, and the audio thread reads from it. Call `attach`
/// and `detach` on any other thread, one call at a time.
final class MonitorSource: SinkSource, CallbackTarget, @unchecked Sendable {
  /// The target duration of the sound that waits in the clock bridge [s].
  private static let target = 0.04

  let channelCount: Int
  private let configuration: VirtualSinkConfiguration
  private let sampleRate: Double
  /// Converts the sound from the server's clock to that of the real sink.
  private let bridge: ClockBridge
  private var connection: ClientConnection?
  private var stream: OpaquePointer?

  init(_ configuration: VirtualSinkConfiguration) {
    self.configuration = configuration
    channelCount = configuration.layout.channelCount
    sampleRate = Double(configuration.output.sampleRate)
    bridge = ClockBridge(
      channelCount: channelCount, sampleRate: sampleRate, depth: .constant(Self.target))
  }

  deinit { detach() }

  // MARK: The recording

  /// Begins to record the sink's monitor. Does nothing while the recording runs.
  ///
  /// - Throws: `noServer`, `serverSilent`, `streamRefused` or `systemFailure`.
  func attach() throws(SoundServerError) {
    if isAttached { return }
    detach()
    let connection = try ClientConnection(
      serverAddress: configuration.output.serverAddress,
      applicationName: configuration.output.applicationName,
      timeoutMilliseconds: configuration.output.connectTimeoutMilliseconds)
    self.connection = connection
    try connection.loop.locked { () throws(SoundServerError) in try open(connection) }
  }

  private var isAttached: Bool {
    guard let connection, let stream else { return false }
    return connection.loop.locked { pa_stream_get_state(stream) == PA_STREAM_READY }
  }

  func detach() {
    if let connection, let stream {
      connection.loop.locked {
        pa_stream_set_read_callback(stream, nil, nil)
        pa_stream_set_state_callback(stream, nil, nil)
        pa_stream_disconnect(stream)
        pa_stream_unref(stream)
      }
    }
    connection?.close()
    (connection, stream) = (nil, nil)
  }

  private func open(_ connection: ClientConnection) throws(SoundServerError) {
    var format = pa_sample_spec(
      format: PA_SAMPLE_FLOAT32LE, rate: UInt32(configuration.output.sampleRate),
      channels: UInt8(channelCount))
    var map = pa_channel_map()
    guard let context = connection.connection.context,
      pa_channel_map_parse(&map, configuration.layout.pulseChannelMap ?? "") != nil,
      let stream = pa_stream_new(context, "Monitor", &format, &map)
    else { throw .streamRefused(reason: "cannot create a stream for the virtual sink's channels") }
    self.stream = stream
    pa_stream_set_read_callback(stream, { MonitorSource.with($2) { $0.receive() } }, userdata)
    pa_stream_set_state_callback(
      stream, { ThreadedLoop.with($1) { $0.signal() } }, connection.loop.userdata)
    let fragment = UInt32(sampleRate / 100) * UInt32(4 * channelCount)
    var attributes = pa_buffer_attr(
      maxlength: .max, tlength: .max, prebuf: .max, minreq: .max, fragsize: fragment)
    let flags = PA_STREAM_ADJUST_LATENCY.rawValue | PA_STREAM_DONT_MOVE.rawValue
    pa_stream_connect_record(
      stream, configuration.name + ".monitor", &attributes, pa_stream_flags_t(rawValue: flags))
    try connection.wait { _ in
      pa_stream_get_state(stream) == PA_STREAM_READY || !isGood(stream: stream)
    }
    guard isGood(stream: stream) else {
      throw .streamRefused(reason: connection.connection.lastError)
    }
  }

  private func receive() {
    guard let stream else { return }
    var data: UnsafeRawPointer?
    var bytes = 0
    while pa_stream_readable_size(stream) > 0, pa_stream_peek(stream, &data, &bytes) >= 0, bytes > 0
    {
      bridge.write(
        data?.assumingMemoryBound(to: Float.self), frameCount: bytes / (4 * channelCount))
      pa_stream_drop(stream)
    }
  }

  // MARK: The audio thread

  var unread: Int { bridge.waitingFrames }

  func restart() { bridge.restart() }

  func plan(delay: Int, resizing: Resizing) {}

  func read(_ samples: UnsafeMutablePointer<Float>, frameCount: Int) -> Int {
    bridge.read(samples, frameCount: frameCount)
  }
}
