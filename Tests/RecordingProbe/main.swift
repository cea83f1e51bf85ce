// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc

/// Writes a recording that a test interrupts, or reads one and prints the time to open it and the
/// memory used.
///
/// usage: recording-probe write PATH pcm24|float CHANNELS|foa RATE SECONDS SPEED [BYTES]
///        recording-probe read PATH
let words = CommandLine.arguments
switch words.dropFirst().first {
case "write" where words.count >= 8: exit(write(Array(words.dropFirst(2))))
case "read" where words.count == 3: exit(read(words[2]))
default:
  print("usage: recording-probe write PATH CODEC CHANNELS RATE SECONDS SPEED [BYTES] | read PATH")
  exit(2)
}
