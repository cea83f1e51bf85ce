// SPDX-License-Identifier: Apache-2.0

import CPulse
import SoundServer
import Synchronization

/// Collects the peaks of several sources.
///
/// ## Threading
/// Any thread may use it.
final class PeakBoard: Sendable {
  /// The peak of each channel of one source.
  final class Cell: Sendable {
    private let peaks: Mutex<[Float]>
    private let received = Atomic(0)

    init(channels: Int) { peaks = Mutex(Array(repeating: -1, count: channels)) }

    var count: Int { received.load(ordering: .relaxed) }

    /// Updates the peaks from interleaved samples [frames x channels].
    func note(_ samples: UnsafeBufferPointer<Float>) {
      peaks.withLock { peaks in
        var channel = 0
        for sample in samples {
          // A NaN fails the comparison and is left out.
          if abs(sample) > peaks[channel] { peaks[channel] = abs(sample) }
          channel = channel + 1 == peaks.count ? 0 : channel + 1
        }
        received.add(samples.count / peaks.count, ordering: .relaxed)
      }
    }

    /// Returns each channel's highest magnitude since the last call; nil if no peak has arrived.
    func take() -> [Float]? {
      peaks.withLock { peaks in
        guard peaks.contains(where: { $0 >= 0 }) else { return nil }
        defer { for i in peaks.indices { peaks[i] = -1 } }
        return peaks.map { max(0, $0) }
      }
    }
  }

  private let cells = Mutex<[String: Cell]>([:])

  var count: Int { cells.withLock { $0.values.reduce(0) { $0 + $1.count } } }

  func add(_ name: String, channels: Int) -> Cell {
    let cell = Cell(channels: channels)
    cells.withLock { $0[name] = cell }
    return cell
  }

  func forget(_ name: String) { cells.withLock { $0[name] = nil } }

  func take() -> [String: [Float]] { cells.withLock { $0.compactMapValues { $0.take() } } }
}

/// Measures the peaks of one source's channels.
///
/// A mono stream would be cheaper, but PipeWire mixes channels without positions (AUX) down to
/// silence. On PipeWire, each meter has a connection of its own. If several streams of one
/// connection have data in the same cycle, module-protocol-pulse delays the data of all but one
/// stream, often for seconds, in versions before commit f75fc4c85 (2026).
///
/// ## Threading
/// Use an instance only with the loop's lock held.
final class PeakStream: CallbackTarget {
  private static let rate: UInt32 = 25
  /// The number of peaks in each packet. Fewer, longer packets cost less.
  private static let peaksPerPacket = 2
  /// `peaksPerPacket` for PipeWire, which sends two peaks for each cycle of its graph (43 ms).
  private static let peaksPerPacketOfPipeWire = 4

  private let source: Source
  private let board: PeakBoard
  private let cell: PeakBoard.Cell
  /// The meter's own connection; nil if it uses a shared one.
  private var connection: Connection?
  private var stream: OpaquePointer?

  /// Opens the meter of a source.
  ///
  /// - Parameter shared: the connection that lists the sources.
  init(of source: Source, on shared: Connection, board: PeakBoard) {
    self.source = source
    self.board = board
    cell = board.add(source.name, channels: source.channelCount)
    if shared.isPipeWire {
      let own = Connection(loop: shared.loop, address: shared.address)
      own.onReady = { [unowned self, unowned own] in
        connect(on: own, peaks: Self.peaksPerPacketOfPipeWire)
      }
      own.open()
      connection = own
    } else {
      connect(on: shared, peaks: Self.peaksPerPacket)
    }
  }

  /// - Parameter peaks: the number of peaks to request in each packet.
  private func connect(on connection: Connection, peaks: Int) {
    guard let context = connection.context else { return }
    var format = pa_sample_spec(
      format: PA_SAMPLE_FLOAT32LE, rate: Self.rate, channels: UInt8(source.channelCount))
    var map = channelMap(source.channelMap)
    stream = pa_stream_new(context, "Meter", &format, &map)
    guard let stream else { return }
    pa_stream_set_read_callback(
      stream, { _, _, this in PeakStream.with(this) { $0.receive() } }, userdata)
    var attributes = pa_buffer_attr(
      maxlength: .max, tlength: .max, prebuf: .max, minreq: .max,
      fragsize: UInt32(4 * source.channelCount * peaks))
    let flags = pa_stream_flags_t(
      rawValue: PA_STREAM_PEAK_DETECT.rawValue | PA_STREAM_DONT_MOVE.rawValue
        | PA_STREAM_NO_REMAP_CHANNELS.rawValue | PA_STREAM_ADJUST_LATENCY.rawValue)
    _ = pa_stream_connect_record(stream, source.name, &attributes, flags)
  }

  deinit { close() }

  var isGood: Bool {
    stream.map(PulseAudio.isGood(stream:)) ?? connection?.isGood ?? false
  }

  func fits(_ other: Source) -> Bool {
    source.channelMap == other.channelMap && source.sampleRate == other.sampleRate
  }

  func close() {
    closeStream()
    connection?.close()
    connection = nil
  }

  private func closeStream() {
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
        cell.note(UnsafeBufferPointer(start: samples, count: size / 4))
      }
      pa_stream_drop(stream)
    }
  }
}

/// Returns the channel map for these names. A name that libpulse does not know becomes an auxiliary
/// channel.
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
