// SPDX-License-Identifier: Apache-2.0

import Capture
import CommandSupport
import FoundationEssentials
import Glibc
import PulseAudio
import SoundServer
import UserFiles

/// Stores the name of the remembered input in `input.json` in the user's state folder.
struct InputStore {
  private struct Content: Codable {
    var input: String
  }

  private let path = StateFolder.path.map { $0 + "/input.json" }

  /// Returns the name of the remembered input; nil if there is none, or if it cannot be read.
  func read() -> String? {
    guard let path, let data = try? Data(contentsOf: URL(filePath: path)) else { return nil }
    return (try? JSONDecoder().decode(Content.self, from: data))?.input
  }

  /// Returns why an input cannot be remembered; nil if it can.
  static func refusal(of input: Input) -> String? {
    guard input.isMonitor else { return nil }
    return
      ("'\(input.name)' is a monitor, which cannot be remembered; choose another input, or record "
      + "the monitor with '--input'").withoutControls
  }

  /// Remembers the input with this name; nil forgets the remembered input.
  func remember(_ name: String?) throws(CommandFailure) {
    guard let path else {
      throw CommandFailure(
        "cannot store the remembered input: neither XDG_STATE_HOME nor HOME is an absolute path; "
          + "set one of them")
    }
    guard let name else {
      guard unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR else {
        throw CommandFailure(
          "cannot remove \(path): \(String(cString: strerror(errno))); remove it yourself")
      }
      return
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(Content(input: name)) else { return }
    try makeFolders(path)
    try TextOutput(path: path).write(String(decoding: data, as: UTF8.self))
  }
}
