// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import Laboratory

/// The VQF library's results on a recording, computed by a separate program (Tests/Peers/peer-vqf).
struct PeerVQF {
  /// Orientations without the magnetometer, from sensor to earth, one per sample.
  let level: [Quaternion]
  /// Orientations with the magnetometer; nil if the recording has no magnetic field.
  let compass: [Quaternion]?
  /// VQF's CPU time per sample.
  let microsecondsPerSample: Double

  /// Runs `peer-vqf` from the folder that the environment variable `STILLSTAGE_PEERS` names.
  /// Returns nil if the variable is not set, if the program is missing or fails, or if its output
  /// is invalid.
  ///
  /// - Parameter count: the number of samples in the recording.
  init?(recording path: String, count: Int) {
    guard let folder = getenv("STILLSTAGE_PEERS").map({ String(cString: $0) }) else { return nil }
    let program = "\(folder)/peer-vqf"
    guard access(program, X_OK) == 0 else { return nil }
    let words = [program, path].map { "'" + $0.replacing("'", with: "'\\''") + "'" }
    guard let pipe = popen(words.joined(separator: " ") + " 2>/dev/null", "r") else { return nil }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while case let read = fread(&part, 1, part.count, pipe), read > 0 { bytes += part[..<read] }
    // The output consists of native doubles: the CPU time per sample in microseconds, then w, x, y
    // and z of each sample without the magnetometer. If the recording has a magnetic field, w, x, y
    // and z of each sample with the magnetometer follow.
    guard pclose(pipe) == 0, bytes.count % 8 == 0 else { return nil }
    let numbers = bytes.withUnsafeBytes { Array($0.bindMemory(to: Double.self)) }
    guard let cost = numbers.first, [4 * count, 8 * count].contains(numbers.count - 1) else {
      return nil
    }
    microsecondsPerSample = cost
    let turns = stride(from: 1, to: numbers.count, by: 4).map {
      Quaternion(w: numbers[$0], x: numbers[$0 + 1], y: numbers[$0 + 2], z: numbers[$0 + 3])
    }
    level = Array(turns[..<count])
    compass = turns.count == 2 * count ? Array(turns[count...]) : nil
  }
}
