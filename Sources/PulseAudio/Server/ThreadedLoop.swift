// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import Glibc
import SoundServer
import Synchronization

final class ThreadedLoop: ClientLoop, CallbackTarget {
  static let tickNanoseconds = 50_000_000

  let handle: OpaquePointer
  let api: UnsafeMutablePointer<pa_mainloop_api>
  var onTick: () -> Void = {}
  /// The loop calls this function on its own thread soon after `wake`. Set it before `start`.
  var onWake: () -> Void = {}
  /// The loop calls this function on its own thread at the time given to `setAlarm`. Set it before
  /// `start`.
  var onAlarm: () -> Void = {}
  private let timer: Int32
  private let alarm: Int32
  private let bell: Int32
  private let isRung = Atomic(false)
  private var events: [OpaquePointer?] = []
  private var isRunning = false
  /// Whether the thread will ask for a higher priority at its next tick.
  private var raisesPriority: Bool

  init(name: String, raisesPriority: Bool = false) throws(SoundServerError) {
    self.raisesPriority = raisesPriority
    timer = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
    alarm = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
    bell = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
    let descriptors = [timer, alarm, bell]
    func failure(_ reason: String) -> SoundServerError {
      for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
      return .systemFailure(reason: "\(reason); close other programs and try again")
    }
    guard descriptors.allSatisfy({ $0 >= 0 }) else {
      throw failure("cannot create a timer or an event descriptor (errno \(errno))")
    }
    guard let handle = pa_threaded_mainloop_new(), let api = pa_threaded_mainloop_get_api(handle)
    else { throw failure("cannot create a main loop") }
    self.handle = handle
    self.api = api
    pa_threaded_mainloop_set_name(handle, name)
  }

  deinit {
    stop()
    pa_threaded_mainloop_free(handle)
    for descriptor in [timer, alarm, bell] { close(descriptor) }
  }

  func start() throws(SoundServerError) {
    let descriptors: [(Int32, pa_io_event_cb_t)] = [
      (timer, { ThreadedLoop.with($4) { $0.tick() } }),
      (bell, { ThreadedLoop.with($4) { $0.answerBell() } }),
      (alarm, { ThreadedLoop.with($4) { $0.takeAlarm() } }),
    ]
    events = descriptors.map { api.pointee.io_new(api, $0, PA_IO_EVENT_INPUT, $1, userdata) }
    // Locking the pages can take milliseconds, so do it before the loop's thread exists.
    if raisesPriority { AudioThread.lockPages() }
    kick()
    guard pa_threaded_mainloop_start(handle) >= 0 else {
      throw .systemFailure(
        reason: "cannot start a thread for the main loop; close other programs and try again")
    }
    isRunning = true
  }

  func stop() {
    if isRunning { pa_threaded_mainloop_stop(handle) }
    isRunning = false
    for case let event? in events { api.pointee.io_free(event) }
    events = []
  }

  func locked<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    precondition(
      pa_threaded_mainloop_in_thread(handle) == 0,
      "this function must not be called in a callback")
    pa_threaded_mainloop_lock(handle)
    defer { pa_threaded_mainloop_unlock(handle) }
    return try body()
  }

  func wait(untilNanoseconds deadline: Int64, _ condition: () -> Bool) -> Bool {
    while !condition() {
      if monotonic_nanoseconds() >= deadline { return false }
      pa_threaded_mainloop_wait(handle)
    }
    return true
  }

  func signal() { pa_threaded_mainloop_signal(handle, 0) }

  func kick() {
    var next = itimerspec(
      it_interval: timespec(tv_sec: 0, tv_nsec: Self.tickNanoseconds),
      it_value: timespec(tv_sec: 0, tv_nsec: 1))
    timerfd_settime(timer, 0, &next, nil)
  }

  /// Makes the loop call `onWake`. Any thread may call this function, with or without the lock.
  func wake() {
    guard !isRung.exchange(true, ordering: .acquiringAndReleasing) else { return }
    var one: UInt64 = 1
    _ = write(bell, &one, MemoryLayout<UInt64>.size)
  }

  /// Makes the loop call `onAlarm` at `time`, in CLOCK_MONOTONIC nanoseconds. Replaces the previous
  /// alarm.
  func setAlarm(at time: Int64) {
    let time = max(time, 1)
    var next = itimerspec(
      it_interval: timespec(tv_sec: 0, tv_nsec: 0),
      it_value: timespec(
        tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000)))
    timerfd_settime(alarm, Int32(TFD_TIMER_ABSTIME), &next, nil)
  }

  private func takeAlarm() {
    acknowledge(alarm)
    onAlarm()
  }

  private func answerBell() {
    acknowledge(bell)
    isRung.store(false, ordering: .releasing)
    onWake()
  }

  private func tick() {
    acknowledge(timer)
    if raisesPriority { AudioThread.raisePriority() }
    raisesPriority = false
    onTick()
    signal()
  }

  private func acknowledge(_ descriptor: Int32) {
    var count: UInt64 = 0
    _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
  }
}
