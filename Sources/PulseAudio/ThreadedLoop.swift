// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import Glibc
import Synchronization

/// libpulse's main loop in a thread of its own, with a tick of 50 ms, so that whoever waits for
/// the server can give up at a deadline.
///
/// ## Threading
/// Everything of libpulse's is touched with the lock held, or on the loop's thread, which holds it.
final class ThreadedLoop {
  static let tickNanoseconds = 50_000_000

  let handle: OpaquePointer
  let api: UnsafeMutablePointer<pa_mainloop_api>
  /// Called on the loop's thread at every tick and soon after every `kick`. Set before `start`.
  var onTick: () -> Void = {}
  /// Called on the loop's thread soon after `wake`. Set before `start`.
  var onWake: () -> Void = {}
  /// Called on the loop's thread at the time given to `setAlarm`. Set before `start`.
  var onAlarm: () -> Void = {}
  private let timer: Int32
  private let alarm: Int32
  private let bell: Int32
  private let isRung = Atomic(false)
  private var timerEvent: OpaquePointer?
  private var bellEvent: OpaquePointer?
  private var alarmEvent: OpaquePointer?
  private var isRunning = false

  init(name: String) throws(PulseAudioError) {
    let timer = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
    let alarm = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
    let bell = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
    guard timer >= 0, alarm >= 0, bell >= 0 else {
      let code = errno
      for descriptor in [timer, alarm, bell] where descriptor >= 0 { close(descriptor) }
      throw .systemFailure(reason: "no timer (errno \(code))")
    }
    guard let handle = pa_threaded_mainloop_new(), let api = pa_threaded_mainloop_get_api(handle)
    else {
      for descriptor in [timer, alarm, bell] { close(descriptor) }
      throw .systemFailure(reason: "no main loop")
    }
    self.handle = handle
    self.api = api
    self.timer = timer
    self.alarm = alarm
    self.bell = bell
    pa_threaded_mainloop_set_name(handle, name)
  }

  deinit {
    stop()
    pa_threaded_mainloop_free(handle)
    for descriptor in [timer, alarm, bell] { close(descriptor) }
  }

  func start() throws(PulseAudioError) {
    let userdata = Unmanaged.passUnretained(self).toOpaque()
    timerEvent = api.pointee.io_new(api, timer, PA_IO_EVENT_INPUT, loopTicks, userdata)
    bellEvent = api.pointee.io_new(api, bell, PA_IO_EVENT_INPUT, loopWakes, userdata)
    alarmEvent = api.pointee.io_new(api, alarm, PA_IO_EVENT_INPUT, loopAlarms, userdata)
    kick()
    guard pa_threaded_mainloop_start(handle) >= 0 else {
      throw .systemFailure(reason: "no thread for the main loop")
    }
    isRunning = true
  }

  /// Ends the thread; never waits for the server. Not with the lock held.
  func stop() {
    if isRunning { pa_threaded_mainloop_stop(handle) }
    isRunning = false
    if let timerEvent { api.pointee.io_free(timerEvent) }
    timerEvent = nil
    if let bellEvent { api.pointee.io_free(bellEvent) }
    bellEvent = nil
    if let alarmEvent { api.pointee.io_free(alarmEvent) }
    alarmEvent = nil
  }

  func locked<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    precondition(
      pa_threaded_mainloop_in_thread(handle) == 0, "called from the sound server's callback")
    pa_threaded_mainloop_lock(handle)
    defer { pa_threaded_mainloop_unlock(handle) }
    return try body()
  }

  /// Waits, with the lock held by the caller, until `condition` or the deadline; true if it came
  /// true. The lock is open while waiting.
  func wait(untilNanoseconds deadline: Int64, _ condition: () -> Bool) -> Bool {
    while !condition() {
      if monotonic_nanoseconds() >= deadline { return false }
      pa_threaded_mainloop_wait(handle)
    }
    return true
  }

  /// Makes the next tick come at once.
  func kick() {
    var next = itimerspec(
      it_interval: timespec(tv_sec: 0, tv_nsec: Self.tickNanoseconds),
      it_value: timespec(tv_sec: 0, tv_nsec: 1))
    timerfd_settime(timer, 0, &next, nil)
  }

  /// Has `onWake` called; from any thread, without the lock.
  func wake() {
    guard !isRung.exchange(true, ordering: .acquiringAndReleasing) else { return }
    var one: UInt64 = 1
    _ = write(bell, &one, MemoryLayout<UInt64>.size)
  }

  /// Has `onAlarm` called once at `time`, CLOCK_MONOTONIC [ns]; a later call replaces it.
  func setAlarm(at time: Int64) {
    let time = max(time, 1)
    var next = itimerspec(
      it_interval: timespec(tv_sec: 0, tv_nsec: 0),
      it_value: timespec(
        tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000)))
    timerfd_settime(alarm, Int32(TFD_TIMER_ABSTIME), &next, nil)
  }

  fileprivate func takeAlarm() {
    var expirations: UInt64 = 0
    _ = read(alarm, &expirations, MemoryLayout<UInt64>.size)
    onAlarm()
  }

  fileprivate func answerBell() {
    var rings: UInt64 = 0
    _ = read(bell, &rings, MemoryLayout<UInt64>.size)
    isRung.store(false, ordering: .releasing)
    onWake()
  }

  fileprivate func tick() {
    var expirations: UInt64 = 0
    _ = read(timer, &expirations, MemoryLayout<UInt64>.size)
    onTick()
    pa_threaded_mainloop_signal(handle, 0)
  }
}

private func loopTicks(
  _ api: UnsafeMutablePointer<pa_mainloop_api>?, _ event: OpaquePointer?, _ descriptor: Int32,
  _ flags: pa_io_event_flags_t, _ loop: UnsafeMutableRawPointer?
) {
  guard let loop else { return }
  Unmanaged<ThreadedLoop>.fromOpaque(loop)._withUnsafeGuaranteedRef { $0.tick() }
}

private func loopWakes(
  _ api: UnsafeMutablePointer<pa_mainloop_api>?, _ event: OpaquePointer?, _ descriptor: Int32,
  _ flags: pa_io_event_flags_t, _ loop: UnsafeMutableRawPointer?
) {
  guard let loop else { return }
  Unmanaged<ThreadedLoop>.fromOpaque(loop)._withUnsafeGuaranteedRef { $0.answerBell() }
}

private func loopAlarms(
  _ api: UnsafeMutablePointer<pa_mainloop_api>?, _ event: OpaquePointer?, _ descriptor: Int32,
  _ flags: pa_io_event_flags_t, _ loop: UnsafeMutableRawPointer?
) {
  guard let loop else { return }
  Unmanaged<ThreadedLoop>.fromOpaque(loop)._withUnsafeGuaranteedRef { $0.takeAlarm() }
}
