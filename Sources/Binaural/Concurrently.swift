// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Does `count` pieces of work, each on a thread of its own but the last, which is the caller's.
///
/// Where a thread cannot be had its work is done by the caller: the result is the same.
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

/// Memory that several threads use at once, each its own part.
struct SharedMemory: @unchecked Sendable {
  let floats: UnsafeMutablePointer<Float>
}
