// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CRealtime
import Capture
import Glibc
import TestSupport

/// Writes `RecordedNoise` to a recording, and prints `frames N` after each block of 50 ms and
/// `stored N` at the end. Returns the exit code.
///
/// - Parameter words: path, codec, number of channels or `foa`, rate in Hz, length in seconds,
///   speed relative to real time (0 for the fastest), and optionally the largest size of the file
///   in bytes.
func write(_ words: [String]) -> Int32 {
  guard let rate = Int(words[3]), let seconds = Double(words[4]), let speed = Double(words[5])
  else { return 2 }
  if words.count > 6, let bytes = UInt(words[6]) { limitFileSize(bytes) }
  let isInteger = words[1] == "pcm24"
  let layout: ChannelLayout =
    words[2] == "foa"
    ? .ambisonics(order: 1, convention: .ambiX, headLocked: false)
    : .unknown(channels: Int(words[2]) ?? 1)
  let noise = RecordedNoise(channels: layout.channelCount, isInteger: isInteger)
  do throws(RecordingError) {
    let file = try RecordingContainer.open(
      path: words[0],
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
        return 1
      }
      done += block
      print("frames \(done)")
      fflush(nil)
      guard speed > 0 else { continue }
      let due = start + Int64(Double(done) / Double(rate) / speed * 1e9)
      let wait = due - monotonic_nanoseconds()
      if wait > 0 { usleep(UInt32(wait / 1000)) }
    }
    try file.finish()
    print("stored \(file.counts.storedFrames)")
    return 0
  } catch {
    print("failed \(error)")
    return 1
  }
}

private func limitFileSize(_ bytes: UInt) {
  // Without this, the signal ends the process.
  signal(SIGXFSZ, SIG_IGN)
  var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
  setrlimit(__rlimit_resource_t(1), &limit)  // RLIMIT_FSIZE
}
