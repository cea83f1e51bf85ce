// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import Media
import System

/// Reads a file to its end and prints `opened MILLISECONDS`, `frames N`, `last VALUE` (the last
/// sample of the first channel times 2^23) and `memory KIB` (the largest amount of memory used).
/// Returns the exit code.
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
    print("memory \(peakMemory())")
    return 0
  } catch {
    print("failed \(error)")
    return 1
  }
}

/// Returns the largest amount of memory that this program has used, in KiB. `getrusage` would
/// include the program that started this one.
private func peakMemory() -> Int {
  let status = (try? SystemFile.contents("/proc/self/status", limit: 8192)) ?? []
  let line = String(decoding: status, as: UTF8.self).split(separator: "\n")
    .first { $0.hasPrefix("VmHWM:") }
  return line.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") } ?? 0
}
