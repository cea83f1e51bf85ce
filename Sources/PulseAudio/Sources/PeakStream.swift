// SPDX-License-Identifier: Apache-2.0

import CPulse
import Synchronization

/// The newest peaks of several sources.
///
/// ## Threading
/// Any thread may use it.
final class PeakBoard: Sendable {
  private struct Content {
    var peaks: [String: [Float]] = [:]
    var count = 0
  }

  private let content = Mutex(Content())

  var count: Int { content.withLock { $0.count } }

  /// Notes peaks: frames x channels.
  func note(_ name: String, _ samples: UnsafeBufferPointer<Float>, channels: Int) {
    content.withLock { content in
      var peaks = content.peaks[name] ?? [Float](repeating: 0, count: channels)
      for (i, sample) in samples.enumerated() {
        // A NaN fails the comparison and is left out.
        let channel = i % channels
        if abs(sample) > peaks[channel] { peaks[channel] = abs(sample) }
      }
      content.peaks[name] = peaks
      content.count += samples.count / channels
    }
  }

  func forget(_ name: String) { content.withLock { $0.peaks[name] = nil } }

  func take() -> [String: [Float]] {
    content.withLock { content in
      defer { content.peaks = [:] }
      return content.peaks
    }
  }
}

/// A stream of the peaks of one source at 25 Hz, with the source's own channels.
///
/// A mono stream would be cheaper, but PipeWire mixes the channels of a source without positions
/// (AUX) to silence.
///
/// ## Threading
/// Use it only with the loop's lock held.
final class PeakStream: CallbackTarget {
  private static let rate: UInt32 = 25

  private let source: Source
  private let board: PeakBoard
  private var stream: OpaquePointer?

  init(of source: Source, in context: OpaquePointer, board: PeakBoard) {
    self.source = source
    self.board = board
    var format = pa_sample_spec(
      format: PA_SAMPLE_FLOAT32LE, rate: Self.rate, channels: UInt8(source.channelCount))
    var map = channelMap(source.channelMap)
    stream = pa_stream_new(context, "Meter", &format, &map)
    guard let stream else { return }
    pa_stream_set_read_callback(
      stream, { _, _, this in PeakStream.with(this) { $0.receive() } }, userdata)
    var attributes = pa_buffer_attr(
      maxlength: .max, tlength: .max, prebuf: .max, minreq: .max,
      fragsize: UInt32(4 * source.channelCount))
    let flags = pa_stream_flags_t(
      rawValue: PA_STREAM_PEAK_DETECT.rawValue | PA_STREAM_DONT_MOVE.rawValue
        | PA_STREAM_NO_REMAP_CHANNELS.rawValue | PA_STREAM_ADJUST_LATENCY.rawValue)
    _ = pa_stream_connect_record(stream, source.name, &attributes, flags)
  }

  deinit { close() }

  var isGood: Bool { stream.map(PulseAudio.isGood(stream:)) ?? false }

  func fits(_ other: Source) -> Bool {
    source.channelMap == other.channelMap && source.sampleRate == other.sampleRate
  }

  func close() {
    guard let stream else { return }
    pa_stream_set_read_callback(stream, nil, nil)
    pa_stream_disconnect(stream)
    pa_stream_unref(stream)
    self.stream = nil
  }

  private func receive() {
    guard let stream else { return }
    while pa_stream_readable_size(stream) > 0 {
      var memory: UnsafeRawPointer?
      var size = 0
      guard pa_stream_peek(stream, &memory, &size) >= 0, size > 0 else { return }
      if let memory {
        let samples = memory.assumingMemoryBound(to: Float.self)
        board.note(
          source.name, UnsafeBufferPointer(start: samples, count: size / 4),
          channels: source.channelCount)
      }
      pa_stream_drop(stream)
    }
  }
}

/// Returns the map with the channels of these names. A name that libpulse does not know becomes an
/// auxiliary channel.
func channelMap(_ names: [String]) -> pa_channel_map {
  var map = pa_channel_map()
  pa_channel_map_init(&map)
  map.channels = UInt8(names.count)
  withUnsafeMutableBytes(of: &map.map) { bytes in
    let positions = bytes.bindMemory(to: pa_channel_position_t.self)
    for (i, name) in names.enumerated().prefix(positions.count) {
      let known = pa_channel_position_from_string(name)
      positions[i] =
        known == PA_CHANNEL_POSITION_INVALID
        ? pa_channel_position_t(PA_CHANNEL_POSITION_AUX0.rawValue + Int32(i % 32)) : known
    }
  }
  return map
}
