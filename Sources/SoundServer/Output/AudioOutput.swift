// SPDX-License-Identifier: Apache-2.0

/// A stereo stream to a sound server, fed by a render callback.
///
/// A loss of the server or the sink does not reset `AudioOutputStatus.framesWritten`.
/// `AudioOutputStatus.framesQueuedAtLoss` is the number of frames that the last loss dropped.
///
/// ## Threading
/// The render callback runs on a thread that the output owns. On that thread, only `refresh` may be
/// called. Any other thread may use the output. `start` and `drain` wait for the server, but not
/// beyond a deadline.
public protocol AudioOutput: AnyObject, Sendable {
  /// The latest values, most of which are updated about every 50 ms.
  var status: AudioOutputStatus { get }

  /// Returns the events since the last call, oldest first. Only the latest 256 are kept.
  func takeEvents() -> [AudioOutputEvent]

  /// Opens the stream and returns when it is open. After a later loss, the output reconnects by
  /// itself.
  ///
  /// - Throws: the reason if the stream cannot be opened or does not open in time; `stopped` after
  ///   `stop`.
  func start() throws(SoundServerError)

  /// Stops the sound at once. Queued sound is kept.
  func pause()

  /// Continues after `pause` or `drain`.
  func resume()

  /// Drops the queue, for a seek.
  ///
  /// - Parameter reposition: called before the queue is dropped, while the render callback cannot
  ///   run.
  func flush(_ reposition: () -> Void)

  /// Requests that queued sound be rendered again, if rewriting is active.
  ///
  /// The call neither blocks nor allocates. Pending requests count as one.
  func refresh()

  /// Stops rendering and waits until everything that was rendered has been played. `resume`
  /// continues playback.
  ///
  /// - Returns: whether everything has been played; false, for example, after the timeout or a
  ///   loss. With PipeWire, also true if the graph has stopped.
  func drain(timeoutMilliseconds: Int) -> Bool

  /// Ends the stream at once, without waiting for the server. The output cannot be started again.
  func stop()
}

extension AudioOutput {
  /// Drops the queue.
  public func flush() { flush({}) }

  /// Drains with a timeout of 2 s.
  public func drain() -> Bool { drain(timeoutMilliseconds: 2000) }
}
