// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CommandSupport
import Glibc
import Laboratory
import Media

/// FFmpeg's `surround` filter, run with the program ffmpeg.
struct PeerSurround {
  private let folder: String

  /// Returns nil if ffmpeg is not in PATH. `folder` receives the output file.
  init?(folder: String) {
    let question = ["/bin/sh", "-c", "command -v ffmpeg"]
    guard HelperProgram.output(of: question) != nil else { return nil }
    self.folder = folder
  }

  private static let filter = "surround=chl_out=5.1"

  /// Returns FL, FR, FC and the left and right surround channels, all delayed by the filter; nil if
  /// the program fails or its output is invalid.
  func upmix(_ input: String) -> [[Double]]? {
    let output = "\(folder)/peer.wav"
    let words = [
      "ffmpeg", "-nostdin", "-v", "error", "-y", "-i", input, "-af", Self.filter, "-c:a",
      "pcm_f32le", output,
    ]
    guard HelperProgram.output(of: ["/usr/bin/env"] + words) != nil,
      let channels = try? readSound(output), channels.count == 6
    else { return nil }
    return [0, 1, 2, 4, 5].map { channels[$0] }
  }

  /// Returns the filter's CPU seconds for a file: the least time with the filter minus the least
  /// time without it, in three runs each. Returns nil if all runs of one kind fail.
  func seconds(_ input: String) -> Double? {
    func time(_ filter: [String]) -> Double? {
      let words =
        ["ffmpeg", "-nostdin", "-v", "error", "-i", input] + filter + ["-f", "null", "-"]
      let before = childSeconds()
      guard HelperProgram.output(of: ["/usr/bin/env"] + words) != nil else { return nil }
      return childSeconds() - before
    }
    let (with, without) = (
      (0..<3).compactMap { _ in time(["-af", Self.filter]) }.min(),
      (0..<3).compactMap { _ in time([]) }.min()
    )
    guard let with, let without else { return nil }
    return max(0, with - without)
  }

  private func childSeconds() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
    let (user, system) = (usage.ru_utime, usage.ru_stime)
    return Double(user.tv_sec + system.tv_sec) + Double(user.tv_usec + system.tv_usec) * 1e-6
  }
}

/// Reads a complete audio file. Returns the samples of each channel.
func readSound(_ path: String) throws(MediaError) -> [[Double]] {
  let reader = try AudioFileReader(path: path)
  let count = reader.track.layout.channelCount
  let block = 4096
  let memory = UnsafeMutablePointer<Float>.allocate(capacity: count * block)
  let planes = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: count)
  defer {
    memory.deallocate()
    planes.deallocate()
  }
  for c in 0..<count { (planes + c).initialize(to: memory + c * block) }
  var channels = [[Double]](repeating: [], count: count)
  while true {
    let read = try reader.read(into: planes, frames: block)
    if read == 0 { return channels }
    for c in 0..<count {
      channels[c] += UnsafeBufferPointer(start: planes[c], count: read).map(Double.init)
    }
  }
}
