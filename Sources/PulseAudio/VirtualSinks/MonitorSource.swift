// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CPulse
import Glibc
import SoundServer
import Synchronization

/// Supplies a virtual sink's sound from the monitor of a module-null-sink.
///
/// A PI controller sets the resampling ratio so that the number of waiting frames stays about
/// constant.
///
/// ## Threading
/// libpulse's thread writes the ring, and the audio thread reads it. Call `attach` and `detach` on
/// a third thread.
final class MonitorSource: SinkSource, CallbackTarget, @unchecked Sendable {
  /// The target duration of waiting sound [s].
  private static let target = 0.04
  private static let capacity = 1 << 16
  /// The controller's gains: `proportional` [1/s] and `integral` [1/s^2].
  private static let (proportional, integral) = (0.2, 0.01)
  /// The largest deviation of the ratio from 1.
  private static let largestDeviation = 0.005
  /// Time constant of the smoothed error [s].
  private static let smoothing = 1.0

  let channelCount: Int
  private let configuration: VirtualSinkConfiguration
  private let sampleRate: Double
  private let ring: UnsafeMutablePointer<Float>
  private let written = Atomic<Int>(0)
  private var connection: ClientConnection?
  private var stream: OpaquePointer?

  // The audio thread owns these.
  private var position = 1.0
  private var isPrimed = false
  private var error = 0.0
  private var sum = 0.0

  init(_ configuration: VirtualSinkConfiguration) {
    self.configuration = configuration
    channelCount = configuration.layout.channelCount
    sampleRate = Double(configuration.output.sampleRate)
    ring = .allocate(capacity: Self.capacity * channelCount)
    ring.initialize(repeating: 0, count: Self.capacity * channelCount)
  }

  deinit {
    detach()
    ring.deallocate()
  }

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
    else { throw .streamRefused(reason: "its channels are not supported") }
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
      let first = written.load(ordering: .relaxed)
      let count = min(bytes / (4 * channelCount), Self.capacity)
      for frame in 0..<count {
        let target = ring + (first + frame) % Self.capacity * channelCount
        let source = data?.assumingMemoryBound(to: Float.self)
        for channel in 0..<channelCount {
          target[channel] = source?[frame * channelCount + channel] ?? 0
        }
      }
      written.store(first + count, ordering: .releasing)
      pa_stream_drop(stream)
    }
  }

  // MARK: The audio thread

  var unread: Int { max(0, written.load(ordering: .acquiring) - Int(position) - 3) }

  func restart() {
    isPrimed = false
    let newest = Double(written.load(ordering: .acquiring))
    position = max(1, newest)
  }

  func plan(delay: Int, resizing: Resizing) {}

  func read(_ samples: UnsafeMutablePointer<Float>, frameCount: Int) -> Int {
    let waiting = unread
    if waiting > Self.capacity / 2 { restart() }
    if !isPrimed { isPrimed = Double(waiting) >= Self.target * sampleRate }
    guard isPrimed, frameCount > 0 else { return 0 }
    let ratio = ratio(waiting: waiting, frameCount: frameCount)
    let count = min(frameCount, Int(Double(waiting) / ratio))
    for frame in 0..<count {
      interpolate(at: position + Double(frame) * ratio, into: samples + frame * channelCount)
    }
    position += Double(count) * ratio
    if count < frameCount { isPrimed = false }
    return count
  }

  /// Returns the number of recorded frames to read for each output frame.
  private func ratio(waiting: Int, frameCount: Int) -> Double {
    let time = Double(frameCount) / sampleRate
    error += (Double(waiting) / sampleRate - Self.target - error) * min(1, time / Self.smoothing)
    let limit = Self.largestDeviation
    sum = max(-limit, min(limit, sum + Self.integral * error * time))
    return 1 + max(-limit, min(limit, Self.proportional * error + sum))
  }

  /// Computes one frame from the four nearest frames by cubic Hermite interpolation.
  private func interpolate(at position: Double, into output: UnsafeMutablePointer<Float>) {
    let first = Int(position)
    let t = Float(position - Double(first))
    let (a, b) = (frame(first - 1), frame(first))
    let (c, d) = (frame(first + 1), frame(first + 2))
    for channel in 0..<channelCount {
      let slope = (c[channel] - a[channel]) / 2
      let nextSlope = (d[channel] - b[channel]) / 2
      let rise = c[channel] - b[channel]
      let cubic = slope + nextSlope - 2 * rise
      let square = rise - slope - cubic
      output[channel] = b[channel] + t * (slope + t * (square + t * cubic))
    }
  }

  private func frame(_ index: Int) -> UnsafeMutablePointer<Float> {
    ring + index % Self.capacity * channelCount
  }
}
