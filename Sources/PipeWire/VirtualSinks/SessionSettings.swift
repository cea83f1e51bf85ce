// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The files of WirePlumber's stored settings that can refer to a virtual sink.
///
/// `default-nodes` holds the default sinks that the user chose. `restore-stream` holds the volumes
/// of streams and sinks, and the sinks of streams that were moved.
struct SessionSettings {
  private static let names = ["default-nodes", "restore-stream"]

  private let folder: String?

  /// - Parameter folder: the folder with the files; nil for the user's own folder.
  init(folder: String?) {
    if let folder {
      self.folder = folder
    } else if let state = getenv("XDG_STATE_HOME"), state.pointee != 0 {
      self.folder = String(cString: state) + "/wireplumber"
    } else {
      self.folder = getenv("HOME").map { String(cString: $0) + "/.local/state/wireplumber" }
    }
  }

  /// Removes settings of sinks whose names begin with `prefix`, and settings that refer to such
  /// sinks.
  func remove(prefix: String) {
    guard let folder else { return }
    for name in Self.names {
      let path = folder + "/" + name
      guard let text = read(path) else { continue }
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      let kept = lines.filter { !Self.refers($0, to: prefix) }
      if kept.count < lines.count { replace(path, kept.joined(separator: "\n")) }
    }
  }

  /// Returns whether the value of a `key=value` line, or a part of its key between colons, begins
  /// with `prefix`.
  static func refers(_ line: Substring, to prefix: String) -> Bool {
    guard let end = line.firstIndex(of: "=") else { return false }
    if line[end...].dropFirst().hasPrefix(prefix) { return true }
    return line[..<end].split(separator: ":").contains { $0.hasPrefix(prefix) }
  }

  private func read(_ path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = fread(&part, 1, part.count, file)
      guard count > 0 else { break }
      bytes += part[..<count]
    }
    return ferror(file) == 0 ? String(decoding: bytes, as: UTF8.self) : nil
  }

  /// Replaces the text of a file. On an error, the file stays as it is.
  private func replace(_ path: String, _ text: String) {
    let new = path + ".stillstage"
    guard let file = fopen(new, "w") else { return }
    let isWritten = fputs(text, file) >= 0
    guard fclose(file) == 0, isWritten, rename(new, path) == 0 else {
      unlink(new)
      return
    }
  }
}
