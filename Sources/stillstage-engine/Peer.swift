// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A rival's renderer, measured by a program of its own beside ours (see Tests/Peers).
struct Peer {
  let name: String
  let program: String

  static let libspatialaudio = Peer(name: "libspatialaudio", program: "peer-libspatialaudio")

  /// What the peer says it costs; nil where it was not built or does not answer.
  func cost(order: Int, blockFrames: Int) -> RenderCost? {
    guard let folder = getenv("STILLSTAGE_PEERS").map({ String(cString: $0) }) else { return nil }
    let path = "\(folder)/\(program)"
    guard access(path, X_OK) == 0 else { return nil }
    let command = "'\(path)' \(order) \(blockFrames)"
    guard let pipe = popen(command, "r") else { return nil }
    var line = [CChar](repeating: 0, count: 128)
    let hasLine = fgets(&line, Int32(line.count), pipe) != nil
    guard pclose(pipe) == 0, hasLine else { return nil }
    let text = String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init), as: UTF8.self)
    let words = text.split(separator: " ")
    guard words.count == 2, let taps = Int(words[0]), let cost = Double(words[1]) else {
      return nil
    }
    return RenderCost(
      renderer: name, order: order, blockFrames: blockFrames, taps: taps,
      millisecondsPerSecond: cost)
  }
}
