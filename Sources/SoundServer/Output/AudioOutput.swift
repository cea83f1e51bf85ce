// SPDX-License-Identifier: Apache-2.0

/// A stereo stream to a sound server, fed by a render callback.
///
/// The stream position survives every loss: frames are pulled in sequence, and none are pulled
/// while there is no server or sink to play them. `AudioOutputStatus.framesQueuedAtLoss` is the
/// number of queued frames that the last loss dropped, so that the caller can step back by that
/// many frames.
///
/// ## Threading
/// The render callback runs on a thread that the output owns. On that thread, only `refresh` may be
/// called. Any other thread may use the output freely. Only `start` and `drain` wait for the
/// server, and each has a deadline. `status` and `takeEvents` never wait for the render callback,
/// and the callback never waits for them.
public protocol AudioOutput: AnyObject, Sendable {
  /// The current status of the output.
  var status: AudioOutputStatus { get }

  /// Returns the events since the last call, oldest first, and removes them. Only the last 256
  /// events are kept.
  func takeEvents() -> [AudioOutputEvent]

  /// Opens the stream, and returns when it is open. After a later loss, the output reconnects
  /// without further calls.
  ///
  /// - Throws: the reason if the stream cannot be opened in time (see
  ///   `AudioOutputConfiguration.connectTimeoutMilliseconds`); `stopped` after `stop`.
  func start() throws(SoundServerError)

  /// Stops the sound at once. Queued sound is kept.
  func pause()

  /// Continues after `pause` or `drain`.
  func resume()

  /// Drops the queue, for a seek.
  ///
  /// - Parameter reposition: called before the queue is dropped, while the render callback cannot
  ///   run. The next frames rendered are the next ones to play.
  func flush(_ reposition: () -> Void)

  /// Requests that queued sound be rendered again: the callback's `RewriteFunction` is called soon
  /// if rewriting is active.
  ///
  /// `refresh` may be called from any thread at any rate; requests that are still pending count as
  /// one. It neither blocks nor allocates.
  func refresh()

  /// Stops pulling audio and waits until everything that was rendered has been played. Frames are
  /// pulled again after `resume`.
  ///
  /// - Returns: true if everything has been played; otherwise false, for example after the timeout
  ///   or if the server or the sink is lost.
  func drain(timeoutMilliseconds: Int) -> Bool

  /// Ends the stream at once, drops the queue and ends the render callback's thread. Never waits
  /// for the server. The output cannot be started again.
  func stop()
}

extension AudioOutput {
  /// Drops the queue.
  public func flush() { flush({}) }

  /// Stops pulling audio and waits up to 2 s until everything that was rendered has been played.
  public func drain() -> Bool { drain(timeoutMilliseconds: 2000) }
}
