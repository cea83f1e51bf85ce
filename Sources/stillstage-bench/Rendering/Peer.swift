// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Glibc
import Laboratory

/// Another renderer for comparison, which a separate program measures (Tests/Peers).
struct Peer {
  private let words: [String]

  /// Returns nil if `STILLSTAGE_PEERS` is not set, or if the folder that it names does not contain
  /// the peer's program as an executable file.
  init?(for job: BenchJob, repetitions: Int) {
    var arguments = ["\(job.order)", "\(job.blockFrames)"]
    if job.renderer == .bareLoop { arguments += [job.path.rawValue, "\(repetitions)"] }
    guard let program = Self.program("peer-\(job.renderer.rawValue)") else { return nil }
    words = [program] + arguments
  }

  static func program(_ name: String) -> String? {
    guard let folder = getenv("STILLSTAGE_PEERS").map({ String(cString: $0) }) else { return nil }
    let path = "\(folder)/\(name)"
    return access(path, X_OK) == 0 ? path : nil
  }

  /// Runs the program. Returns the number of filter taps and the CPU milliseconds per second of
  /// audio; nil if the program fails or its output is invalid.
  func cost() -> (taps: Int, millisecondsPerSecond: Double)? {
    let answer = HelperProgram.output(of: words)?.split(whereSeparator: \.isWhitespace) ?? []
    guard answer.count == 2, let taps = Int(answer[0]), let cost = Double(answer[1]) else {
      return nil
    }
    return (taps, cost)
  }
}
