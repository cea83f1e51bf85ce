// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Calls `body` with each number from 0 to `count - 1` and returns after all calls have ended.
/// `count` must be 1 or more.
///
/// The call with `count - 1` runs on the caller's thread. Each other call runs on a new thread, or
/// on the caller's thread if no thread can be created.
func concurrently(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  var threads: [pthread_t] = []
  for index in 0..<(count - 1) {
    let work = Unmanaged.passRetained(Work { body(index) })
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { argument in
        Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().run()
        return nil
      }, work.toOpaque())
    if status == 0 { threads.append(thread) } else { work.takeRetainedValue().run() }
  }
  body(count - 1)
  for thread in threads { pthread_join(thread, nil) }
}

private final class Work: Sendable {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Memory that several threads use at the same time. Each thread uses its own part.
struct SharedMemory: @unchecked Sendable {
  let floats: UnsafeMutablePointer<Float>
}
