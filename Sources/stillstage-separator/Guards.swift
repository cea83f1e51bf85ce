// SPDX-License-Identifier: Apache-2.0

import CSpawn
import Glibc

/// Makes this process end when the other end of the connection closes, even if the library hangs.
///
/// The kernel's parent-death signal is not used, because it is sent when the thread that started
/// this process ends, which may be too early.
func endWithConnection() {
  var thread = pthread_t()
  let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { _ in
    while true {
      // Without requested events, `poll` reports only the hang-up and errors.
      var request = pollfd(fd: 0, events: 0, revents: 0)
      if poll(&request, 1, -1) > 0 { _exit(0) }
    }
  }
  if pthread_create(&thread, nil, body, nil) != 0 { exit(1) }
  pthread_detach(thread)
}

/// Lets SIGPIPE end this process, disables core files, and limits the address space to 4 GiB.
func setLimits() {
  signal(SIGPIPE, SIG_DFL)
  spawn_limit(Int32(RLIMIT_CORE.rawValue), 0)
  spawn_limit(Int32(RLIMIT_AS.rawValue), 4 << 30)
}
