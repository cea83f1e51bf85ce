// SPDX-License-Identifier: Apache-2.0

private import CRealtime
import SoundServer
private import Synchronization
private import System

/// Records a source of the sound server to a `RecordingSink`, and replaces lost sound with silence
/// of the same length.
///
/// ## Threading
/// Any thread may call the methods. The sink and the closures that `init` receives are called on a
/// writing thread and must not call `stop`. During `start`, they are called on the thread that
/// calls `start`.
public final class Recorder: @unchecked Sendable {
  /// Creates the sink. `start` calls this with the format of the recording.
  public typealias SinkMaker = (RecorderFormat) throws -> any RecordingSink
  /// Receives frames that the sink has taken.
  public typealias BlockReceiver = @Sendable (RecordedBlock) -> Void
  public typealias EventReceiver = @Sendable (RecorderEvent) -> Void

  private let configuration: RecorderConfiguration
  private let onBlock: BlockReceiver?
  private let deliveries = Mutex<[BlockDelivery]>([])
  private let onEvent: EventReceiver
  private let board: RecorderBoard
  /// Passes the sound to a listener; nil unless `canBeMonitored` is true.
  private let live: LiveFeed?
  private let worker = Worker()
  private let writing = Mutex<RecordingLoop?>(nil)

  /// Creates a recorder without opening the source.
  ///
  /// - Parameters:
  ///   - configuration: what to record, and how.
  ///   - onBlock: receives every recorded frame, including silence in place of lost sound.
  ///   - onEvent: receives gaps, pauses and the other events.
  public init(
    _ configuration: RecorderConfiguration, onBlock: BlockReceiver? = nil,
    onEvent: @escaping EventReceiver = { _ in }
  ) {
    self.configuration = configuration
    self.onBlock = onBlock
    self.onEvent = onEvent
    let board = RecorderBoard(gain: configuration.gain)
    self.board = board
    live = configuration.canBeMonitored ? LiveFeed { board.requests.gain } : nil
  }

  deinit { stop() }

  /// Opens the source, creates the sink and begins to record.
  ///
  /// - Throws: `SoundServerError`, `RecorderError`, or any error from `makeSink`.
  public func start(makeSink: SinkMaker) throws {
    let loop = RecordingLoop(configuration, board: board, live: live, onEvent: onEvent)
    do {
      try loop.open(onBlock: blockReceiver, makeSink: makeSink)
    } catch {
      loop.close()
      throw error
    }
    let box = UncheckedBox(loop)
    writing.withLock { $0 = box.value }
    worker.start { [worker] in box.value.run(on: worker) }
  }

  private var blockReceiver: BlockReceiver {
    { [onBlock, weak self] block in
      onBlock?(block)
      for delivery in self?.deliveries.withLock({ $0 }) ?? [] { delivery.add(block) }
    }
  }

  /// Passes every frame that is recorded from now on to a closure, for example to draw a waveform
  /// or to recognise speech.
  ///
  /// The closure runs on its own thread and may block. If it blocks until the queue is full, it
  /// misses frames, but the recording loses nothing.
  ///
  /// Frames are delivered after they have been recorded, usually at most 30 ms after their arrival.
  /// While it is uncertain whether earlier sound is missing, the delay can grow to about 1 s.
  ///
  /// - Parameter queueSeconds: the size of the queue, in seconds of 8-channel sound at 48 kHz.
  public func deliver(
    queueSeconds: Double = 2, to receive: @escaping BlockDelivery.Receiver
  ) -> BlockDelivery {
    let delivery = BlockDelivery(queueSeconds: queueSeconds, to: receive)
    deliveries.withLock { $0.append(delivery) }
    return delivery
  }

  /// Passes the sound to a closure as soon as it arrives, for listening. The sound has the format
  /// and the gain of the recording. Sound that the server has lost becomes silence; other lost
  /// sound is left out. Delivery continues while the recording is paused.
  ///
  /// The closure runs on its own thread with a high priority. Only the first call has an effect,
  /// and only if `canBeMonitored` is true in the configuration.
  ///
  /// - Parameter listener: receives the samples, as frames x channels, and the number of frames.
  package func monitor(
    _ listener: @escaping @Sendable (_ samples: UnsafePointer<Float>, _ frames: Int) -> Void
  ) {
    live?.start(listener)
  }

  /// The number of frames that the closure of `monitor` has missed because it was too slow.
  package var unheardFrames: Int { live?.droppedFrames ?? 0 }

  public var status: RecorderStatus { board.status }

  /// Returns the levels of the sound that was recorded since the last call.
  public func takeLevels() -> RecorderLevels { board.takeLevels() }

  /// Whether the recording has finished or failed.
  public var isFinished: Bool {
    switch status.state {
    case .finished, .failed: true
    case .recording, .paused, .waiting: false
    }
  }

  /// The linear gain.
  public var gain: Float {
    get { board.requests.gain }
    set { board.request { $0.gain = newValue } }
  }

  /// Whether the recording is paused. Sound that arrives during a pause is not recorded.
  public var isPaused: Bool {
    get { board.requests.isPaused }
    set {
      board.request { $0.isPaused = newValue }
      worker.wake()
    }
  }

  /// Records another source from now on, in the same format.
  public func change(to sourceName: String) {
    board.request { $0.input = sourceName }
    worker.wake()
  }

  /// Ends the recording, completes the sink and returns the final status.
  @discardableResult
  public func stop() -> RecorderStatus {
    let now = Double(monotonic_nanoseconds()) * 1e-9
    board.request { $0.stopTime = $0.stopTime ?? now }
    let loop = writing.withLock { loop in
      defer { loop = nil }
      return loop
    }
    if let loop {
      worker.wake()
      loop.awaitEnd()
      worker.stop()
      loop.close()
    }
    let ended = deliveries.withLock { deliveries in
      defer { deliveries = [] }
      return deliveries
    }
    for delivery in ended { delivery.stop() }
    live?.stop()
    return board.status
  }
}

/// Passes a value to another thread, although its type is not `Sendable`.
private struct UncheckedBox<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}
