// SPDX-License-Identifier: Apache-2.0

/// Why an output cannot play.
package struct OutputLoss {
  package enum Kind {
    case server, sink
  }

  package let kind: Kind
  package let reason: String

  package static func server(_ reason: String) -> OutputLoss {
    OutputLoss(kind: .server, reason: reason)
  }

  package static func sink(_ reason: String) -> OutputLoss {
    OutputLoss(kind: .sink, reason: reason)
  }
}

/// An output's stream.
///
/// ## Threading
/// Use it on the loop's thread or with the loop's lock held.
package protocol PlaybackStream: AnyObject {
  var configuration: AudioOutputConfiguration { get }
  var board: OutputBoard { get }
  var flow: OutputFlow { get set }
  /// Whether the server is expected to request audio.
  var isRequestDue: Bool { get }
  /// The time of the last attempt to fill the queue or, with PipeWire, of the last cycle. It is in
  /// CLOCK_MONOTONIC nanoseconds.
  var lastWrite: Int64 { get }

  /// Closes the stream. Does nothing if there is none.
  func close()
}

/// The part of an output that calls the client library of a sound server.
///
/// The backend changes `stream.flow` and posts events, but does not call the session.
///
/// ## Threading
/// `close` is called when the loop's thread is not running, and `refresh` on any thread. Everything
/// else runs on the loop's thread or with the loop's lock held.
package protocol OutputBackend: AnyObject {
  associatedtype Loop: ClientLoop
  associatedtype Stream: PlaybackStream

  /// The reason to report for the loss of the sink if a stream does not open in time. If nil,
  /// connecting and opening share one timeout, and a loss of the server is reported instead.
  static var unopened: String? { get }

  var loop: Loop { get }
  var stream: Stream { get }

  // MARK: Connecting

  /// Begins to connect unless the connection is intact.
  func connect()

  /// Closes the connection without waiting for the server.
  func disconnect()

  /// Whether the connection is being set up or is ready.
  var isConnected: Bool { get }

  /// A description of the server's address for error messages.
  var address: String { get }

  /// Returns the error for a server that cannot be reached.
  func noServer(reason: String) -> SoundServerError

  /// Requests the sinks from the server if necessary. Returns whether all have been received.
  func findSinks() -> Bool

  /// The names of the sinks that were found.
  var sinkNames: [String] { get }

  /// Creates the stream and begins to connect it. Returns the loss if this fails at once; otherwise
  /// nil. `findLoss` reports later failures.
  func open() -> OutputLoss?

  /// Returns whether the stream that `open` created is now connected.
  func checkOpen() -> Bool

  /// Returns the loss of the connection, the stream or the sink; nil if they are intact.
  func findLoss(_ now: Int64) -> OutputLoss?

  // MARK: Running

  /// Updates the status for the stream that has just opened, and posts `connected`.
  func begin()

  /// Takes the steps that are due at a tick.
  func attend(_ now: Int64)

  /// Notes that playback is starting or restarting.
  func noteBeginning()

  func isSuspended(at now: Int64) -> Bool

  /// Sends the server a request whose answer changes `lastAnswer`.
  func ask()

  /// The time of the server's last answer, in CLOCK_MONOTONIC nanoseconds; 0 before the first one.
  var lastAnswer: Int64 { get }

  /// How long the server can play without a request [ns].
  var queueDuration: Int64 { get }

  /// Returns an estimate of the number of rendered frames that are not yet audible at `time`; 0 if
  /// there is no estimate.
  func framesQueued(at time: Int64) -> Int

  // MARK: Controls

  /// Pauses the stream without playing the queue to its end. Set `flow.wantsPause` first.
  func pause()

  /// Continues after `pause` or `drain`. Clear the flags in `flow` first.
  func resume()

  /// Calls `reposition` while nothing is rendered, and then drops the queue if the backend can.
  func flush(_ reposition: () -> Void)

  /// Requests that queued sound be rendered again. Does nothing if the backend cannot rewrite.
  func refresh()

  /// Stops rendering. When everything has been played or, with PipeWire, the graph has stopped,
  /// sets `flow.isDrained` and posts `drained`.
  func drain()

  /// Closes the stream and the connection.
  func close()
}
