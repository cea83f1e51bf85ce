// SPDX-License-Identifier: Apache-2.0

internal import PulseAudio
internal import SoundServer
private import Synchronization
internal import System

/// Passes the sound of the input to a listener as soon as it arrives.
///
/// The sound has the channels, the rate and the gain of the recording. It does not wait for the
/// disk, or for the decision whether late sound is lost. Delivery continues while the recording is
/// paused. If a slow listener lets the queue fill up, it misses frames.
///
/// ## Threading
/// The capture thread calls `receive`. The feed calls the listener on a thread of its own. Any
/// thread may use the other members.
final class LiveFeed: Sendable {
  typealias Listener = @Sendable (_ samples: UnsafePointer<Float>, _ frames: Int) -> Void

  private static let bytes = 1 << 20
  private static let pauseMilliseconds = 200

  private let ring = BlockRing(bytes: LiveFeed.bytes)
  /// The rate of the source [Hz]; 0 before its format is known.
  private let sourceRate = Atomic(0)
  private let isWanted = Atomic(false)
  private let dropped = Atomic(0)
  private let form = Mutex<LiveConverter.Form?>(nil)
  private let gain: @Sendable () -> Float
  private let worker = Worker()

  /// Creates a feed without a listener.
  ///
  /// - Parameter gain: returns the linear gain; called on the listener's thread for each block.
  init(gain: @escaping @Sendable () -> Float) { self.gain = gain }

  /// The number of frames that the listener has missed because the queue was full.
  var droppedFrames: Int { dropped.load(ordering: .relaxed) }

  /// Sets the form of the recording. Before this call, the listener receives no sound.
  func prepare(_ form: LiveConverter.Form) { self.form.withLock { $0 = form } }

  // MARK: The capture thread

  func receive(_ block: SourceBlock) {
    guard isWanted.load(ordering: .acquiring) else { return }
    var header = BlockRing.Header()
    header.kind = block.samples == nil ? .hole : .block
    header.channels = Int32(block.channelCount)
    header.frames = Int32(block.frameCount)
    header.sampleRate = Int32(sourceRate.load(ordering: .relaxed))
    ring.write(header, block.samples)
    worker.wake()
  }

  func receive(_ event: SourceCaptureEvent) {
    guard case .opened(let format) = event else { return }
    sourceRate.store(format.sampleRate, ordering: .relaxed)
  }

  // MARK: The listener

  /// Begins to pass sound to a listener. Only the first call has an effect.
  func start(_ listener: @escaping Listener) {
    isWanted.store(true, ordering: .releasing)
    worker.start { [self] in
      AudioThread.raisePriority()
      var samples: [Float] = []
      var converter: LiveConverter?
      while !worker.isStopped {
        while let header = ring.read(into: &samples) { pass(header, samples, &converter, listener) }
        worker.sleep(milliseconds: Self.pauseMilliseconds)
      }
    }
  }

  private func pass(
    _ header: BlockRing.Header, _ samples: [Float], _ converter: inout LiveConverter?,
    _ listener: Listener
  ) {
    dropped.add(Int(header.droppedFrames), ordering: .relaxed)
    let source = (channels: Int(header.channels), rate: Int(header.sampleRate))
    guard let form = form.withLock({ $0 }), source.channels > 0, source.rate > 0 else { return }
    if converter?.takes(source) != true { converter = LiveConverter(form, source: source) }
    converter?.gain = gain()
    let frames = Int(header.frames)
    if header.kind == .hole {
      let silence = [Float](repeating: 0, count: frames * source.channels)
      converter?.convert(silence, frames: frames, listener)
    } else {
      converter?.convert(samples, frames: frames, listener)
    }
  }

  /// Ends the delivery for good. Afterwards, the listener is not called.
  func stop() {
    isWanted.store(false, ordering: .releasing)
    worker.stop()
  }
}
