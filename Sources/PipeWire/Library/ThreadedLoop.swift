// SPDX-License-Identifier: Apache-2.0

import CPipeWire
import CRealtime
import Glibc
internal import SoundServer

/// A main loop of libpipewire that runs on its own thread.
final class ThreadedLoop: ClientLoop, CallbackTarget {
  private static let tickNanoseconds: Int64 = 50_000_000

  let library: PipeWireLibrary
  let handle: OpaquePointer
  let loop: UnsafeMutablePointer<pw_loop>
  var onTick: () -> Void = {}
  private var timer: UnsafeMutablePointer<spa_source>?
  private var isRunning = false

  private var pw: UnsafePointer<pipewire_library> { library.functions }

  init(name: String) throws(SoundServerError) {
    library = try PipeWireLibrary.load()
    guard let handle = library.functions.pointee.pw_thread_loop_new(name, nil),
      let loop = library.functions.pointee.pw_thread_loop_get_loop(handle)
    else {
      throw .systemFailure(
        reason: "cannot create a main loop (errno \(errno)); close other programs and try again")
    }
    self.handle = handle
    self.loop = loop
  }

  deinit {
    stop()
    pw.pointee.pw_thread_loop_destroy(handle)
  }

  func start() throws(SoundServerError) {
    timer = pipewire_add_timer(
      loop, { this, _ in ThreadedLoop.with(this) { $0.tick() } }, userdata)
    kick()
    guard timer != nil, pw.pointee.pw_thread_loop_start(handle) >= 0 else {
      throw .systemFailure(
        reason: "cannot create a timer or start the main loop; close other programs and try again")
    }
    isRunning = true
  }

  func stop() {
    if isRunning { pw.pointee.pw_thread_loop_stop(handle) }
    isRunning = false
    if let timer { pipewire_remove_source(loop, timer) }
    timer = nil
  }

  func locked<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    precondition(
      !isRunning || !pw.pointee.pw_thread_loop_in_thread(handle),
      "this function must not be called in a callback")
    pw.pointee.pw_thread_loop_lock(handle)
    defer { pw.pointee.pw_thread_loop_unlock(handle) }
    return try body()
  }

  func wait(untilNanoseconds deadline: Int64, _ condition: () -> Bool) -> Bool {
    while !condition() {
      let now = monotonic_nanoseconds()
      if now >= deadline { return false }
      var end = timespec()
      _ = pw.pointee.pw_thread_loop_get_time(
        handle, &end, min(deadline - now, Self.tickNanoseconds))
      _ = pw.pointee.pw_thread_loop_timed_wait_full(handle, &end)
    }
    return true
  }

  func signal() { pw.pointee.pw_thread_loop_signal(handle, false) }

  func kick() { tick(after: 1) }

  /// Makes the next tick occur after `nanoseconds`, or after the usual interval if that is shorter.
  func tick(after nanoseconds: Int64) {
    guard let timer else { return }
    pipewire_set_timer(
      loop, timer, max(1, min(nanoseconds, Self.tickNanoseconds)), Self.tickNanoseconds)
  }

  private func tick() {
    onTick()
    signal()
  }
}
