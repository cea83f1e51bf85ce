// SPDX-License-Identifier: Apache-2.0

import Capture
import CommandSupport
import FoundationEssentials
import Glibc
import PulseAudio
import SoundServer
import System
import UserFiles

/// Stores in a file in the user's state folder what `record` or `listen` changes on the sound
/// server. If the process is killed, the next `record` or `listen` undoes the changes.
struct InputUndo {
  private struct Content: Codable {
    var bluetooth: BluetoothMicrophone.Former?
    var defaultSink: String?
    /// The address of the server; nil for the default.
    var server: String?

    var isEmpty: Bool { bluetooth == nil && defaultSink == nil }
  }

  private static let prefix = "capture."
  private static let suffix = ".json"
  private var content = Content(server: getenv("PULSE_SERVER").map { String(cString: $0) })
  private let path = StateFolder.path.map {
    "\($0)/\(prefix)\(SinkOwner.current.text)\(suffix)"
  }

  mutating func note(_ former: BluetoothMicrophone.Former?) {
    content.bluetooth = former
    store()
  }

  mutating func note(defaultSink: String?) {
    content.defaultSink = defaultSink
    store()
  }

  /// Stores the changes, or deletes the file if there are none. Without a state folder, nothing is
  /// stored, so nothing undoes the changes if the process is killed.
  private func store() {
    guard let path else { return }
    guard !content.isEmpty, let data = try? JSONEncoder().encode(content) else {
      unlink(path)
      return
    }
    do throws(CommandFailure) {
      try makeFolders(path)
      try TextOutput(path: path).write(String(decoding: data, as: UTF8.self))
    } catch {
      printNote(
        "cannot write \(path), so the sound server's settings cannot be restored if this program "
          + "is killed")
    }
  }

  /// Undoes the changes of processes that have ended without undoing them. Returns a note about
  /// each Bluetooth profile that was restored or cannot be restored.
  static func undoLeftovers() -> [String] {
    guard let folder = StateFolder.path else { return [] }
    var notes: [String] = []
    for name in SystemFile.names(in: folder) ?? [] {
      guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { continue }
      let owner = String(name.dropFirst(prefix.count).dropLast(suffix.count))
      guard !SinkOwner(text: owner).isAlive else { continue }
      let path = "\(folder)/\(name)"
      guard let data = try? Data(contentsOf: URL(filePath: path)),
        let content = try? JSONDecoder().decode(Content.self, from: data)
      else {
        unlink(path)
        continue
      }
      if let note = undo(content) { notes.append(note) }
      unlink(path)
    }
    return notes
  }

  private static func undo(_ content: Content) -> String? {
    if let sink = content.defaultSink {
      try? VoiceInput.removeOrphans(serverAddress: content.server, defaultSink: sink)
    }
    guard let former = content.bluetooth else { return nil }
    let card = "the Bluetooth device '\(former.card)'"
    return switch BluetoothMicrophone.restore(former, serverAddress: content.server) {
    case .done:
      "the profile or codec of \(card), which a killed Stillstage process had changed, has been "
        + "restored"
    case .unnecessary: nil
    case .failed:
      "the profile '\(former.profile)' or the codec of \(card) cannot be restored; select both "
        + "yourself"
    }
  }
}
