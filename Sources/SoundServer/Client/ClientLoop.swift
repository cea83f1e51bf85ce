// SPDX-License-Identifier: Apache-2.0

/// The main loop of a sound server's client library. The loop runs on its own thread and ticks
/// at least every 50 ms.
///
/// ## Threading
/// Call the library on the loop's thread or with the lock held.
package protocol ClientLoop: AnyObject {
  /// Called on the loop's thread at every tick. Set it before `start`.
  var onTick: () -> Void { get set }

  /// Starts the thread.
  ///
  /// - Throws: `systemFailure`.
  func start() throws(SoundServerError)

  /// Ends the thread without waiting for the server. Call it without the lock, and not on the
  /// loop's thread.
  func stop()

  /// Runs `body` with the lock held. Call this function on any thread but the loop's.
  func locked<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value

  /// Waits until `condition` is true or the deadline passes. Returns whether `condition` became
  /// true. Call it with the lock held; waiting releases the lock.
  ///
  /// - Parameter deadline: the deadline in CLOCK_MONOTONIC nanoseconds.
  func wait(untilNanoseconds deadline: Int64, _ condition: () -> Bool) -> Bool

  /// Makes the callers of `wait` check their conditions.
  func signal()

  /// Makes the next tick occur at once.
  func kick()
}
