// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import Glibc
private import Synchronization

/// A thread that can be woken and stopped.
public final class Worker: Sendable {
  private let isStopping = Atomic<Bool>(false)
  private let isWoken = Atomic<Bool>(false)
  private let hasEnded = Atomic<Bool>(false)
  private let pipe = try? SystemPipe()
  private let thread = Mutex<pthread_t?>(nil)

  public init() {}

  /// Whether `stop()` has been called.
  public var isStopped: Bool { isStopping.load(ordering: .relaxed) }

  /// Runs `body` on the thread. Has no effect if the worker was started or stopped before, or if
  /// the system cannot create a thread.
  public func start(_ body: @escaping @Sendable () -> Void) {
    thread.withLock { thread in
      guard thread == nil, !isStopped else { return }
      var id = pthread_t()
      let box = Unmanaged.passRetained(
        Body { [weak self] in
          body()
          self?.hasEnded.store(true, ordering: .releasing)
        }
      ).toOpaque()
      let result = pthread_create(&id, nil, Worker.main, box)
      if result == 0 { thread = id } else { Unmanaged<Body>.fromOpaque(box).release() }
    }
  }

  /// Tells the thread to end, and waits for its end unless this call is made on that thread.
  ///
  /// - Parameter limit: the maximum wait, in milliseconds; nil for no limit.
  public func stop(withinMilliseconds limit: Int? = nil) {
    isStopping.store(true, ordering: .relaxed)
    sendToken()
    thread.withLock { thread in
      guard let id = thread else { return }
      if pthread_equal(id, pthread_self()) == 0, waitForEnd(milliseconds: limit) {
        pthread_join(id, nil)
      } else {
        // A thread cannot wait for itself, and a stuck thread may never end.
        pthread_detach(id)
      }
      thread = nil
    }
  }

  /// Waits for the body to end. Returns false after the limit, and true at once if there is no
  /// limit.
  private func waitForEnd(milliseconds limit: Int?) -> Bool {
    guard let limit else { return true }
    let end = monotonic_nanoseconds() + Int64(limit) * 1_000_000
    while monotonic_nanoseconds() < end {
      if hasEnded.load(ordering: .acquiring) { return true }
      usleep(1000)
    }
    return hasEnded.load(ordering: .acquiring)
  }

  /// Ends the thread's current or next sleep.
  public func wake() {
    guard !isWoken.exchange(true, ordering: .acquiringAndReleasing) else { return }
    sendToken()
  }

  private func sendToken() {
    var token: UInt8 = 1
    _ = write(pipe?.writer ?? -1, &token, 1)
  }

  /// Sleeps for `milliseconds`, or until `wake` or `stop` is called. Call this on the worker's
  /// thread.
  public func sleep(milliseconds: Int) {
    guard !isStopped else { return }
    var request = pollfd(fd: pipe?.reader ?? -1, events: Int16(POLLIN), revents: 0)
    poll(&request, 1, Int32(milliseconds))
    guard isWoken.exchange(false, ordering: .acquiringAndReleasing) else { return }
    var token: UInt8 = 0
    _ = read(pipe?.reader ?? -1, &token, 1)
  }

  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    guard let box = $0 else { return nil }
    Unmanaged<Body>.fromOpaque(box).takeRetainedValue().run()
    return nil
  }
}

/// Threads that nothing waits for.
public enum DetachedThread {
  /// Runs `body` on a thread of its own, if one can be started.
  public static func run(_ body: @escaping @Sendable () -> Void) {
    let worker = Worker()
    worker.start(body)
    worker.stop(withinMilliseconds: 0)
  }
}
