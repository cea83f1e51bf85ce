// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CRealtime
import Capture
import Glibc
import TestSupport

/// Writes `RecordedNoise` to a recording, and prints `frames N` after each block of 50 ms. A test
/// kills it, or limits the size of its file.
///
/// usage: recording-writer PATH pcm24|float CHANNELS|foa RATE SECONDS SPEED [BYTES]
///        SPEED is the speed relative to real time, 0 for the fastest. BYTES limits the file.
let words = CommandLine.arguments
guard words.count >= 7, let rate = Int(words[4]), let seconds = Double(words[5]),
  let speed = Double(words[6])
else {
  print("usage: recording-writer PATH CODEC CHANNELS RATE SECONDS SPEED [BYTES]")
  exit(2)
}
if words.count > 7, let bytes = UInt(words[7]) {
  signal(SIGXFSZ, SIG_IGN)
  var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
  setrlimit(__rlimit_resource_t(1), &limit)  // RLIMIT_FSIZE
}
let isInteger = words[2] == "pcm24"
let layout: ChannelLayout =
  words[3] == "foa"
  ? .ambisonics(order: 1, convention: .ambiX, headLocked: false)
  : .unknown(channels: Int(words[3]) ?? 1)
let noise = RecordedNoise(channels: layout.channelCount, isInteger: isInteger)

do throws(RecordingError) {
  let file = try RecordingContainer.open(
    path: words[1],
    format: RecordingFormat(
      layout: layout, sampleRate: rate, codec: isInteger ? .pcm24 : .float))
  let start = monotonic_nanoseconds()
  let block = rate / 20
  var done = 0
  while done < Int(seconds * Double(rate)) {
    do { try file.append(noise.interleaved(from: done, frames: block)) } catch {
      print("failed \(error)")
      try file.finish()
      print("stored \(file.counts.storedFrames)")
      exit(1)
    }
    done += block
    print("frames \(done)")
    fflush(nil)
    if speed > 0 {
      let due = start + Int64(Double(done) / Double(rate) / speed * 1e9)
      let wait = due - monotonic_nanoseconds()
      if wait > 0 { usleep(UInt32(wait / 1000)) }
    }
  }
  try file.finish()
  print("stored \(file.counts.storedFrames)")
} catch {
  print("failed \(error)")
  exit(1)
}
