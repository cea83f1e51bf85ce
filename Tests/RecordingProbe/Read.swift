// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import Media

/// Reads a file to its end and prints `opened MILLISECONDS`, `frames N`, `last VALUE` (the last
/// sample of the first channel times 2^23) and `memory KIB` (the largest amount used). Returns the
/// exit code.
func read(_ path: String) -> Int32 {
  do throws(MediaError) {
    let start = monotonic_nanoseconds()
    let reader = try AudioFileReader(path: path)
    print("opened \((monotonic_nanoseconds() - start) / 1_000_000)")
    let capacity = 65536
    let planes = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(
      capacity: reader.channels)
    for channel in 0..<reader.channels { planes[channel] = .allocate(capacity: capacity) }
    var (frames, last) = (0, Float(0))
    while true {
      let count = try reader.read(into: planes, frames: capacity)
      guard count > 0 else { break }
      frames += count
      last = planes[0][count - 1]
    }
    print("frames \(frames)")
    print("last \(Int(last * 0x1p23))")
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    print("memory \(usage.ru_maxrss)")
    return 0
  } catch {
    print("failed \(error)")
    return 1
  }
}
