// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

/// The process that owns a virtual sink, identified by its process ID and start time.
package struct SinkOwner: Sendable, Equatable {
  static let property = "stillstage.owner"

  /// "ID-START", with the start time in clock ticks since boot.
  package let text: String

  package init(text: String) { self.text = text }

  package static let current = SinkOwner(processID: getpid())

  init(processID: pid_t) {
    text = "\(processID)-\(Self.startTime(of: processID) ?? "0")"
  }

  package var isAlive: Bool {
    guard let id = pid_t(text.prefix { $0 != "-" }), id > 0 else { return false }
    return SinkOwner(processID: id).text == text && Self.startTime(of: id) != nil
  }

  /// Returns the start time, field 22 of `/proc/ID/stat`; nil if the process has ended. Field 2, in
  /// parentheses, may contain blanks, so the fields are counted from its end.
  private static func startTime(of id: pid_t) -> String? {
    guard let bytes = try? SystemFile.contents("/proc/\(id)/stat"),
      let end = bytes.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    let fields = String(decoding: bytes[(end + 1)...], as: UTF8.self).split(separator: " ")
    // A zombie has ended.
    guard fields.count > 19, fields[0] != "Z" else { return nil }
    return String(fields[19])
  }
}

struct ServerModule: Equatable {
  var index: UInt32
  var name: String
  var argument: String

  /// The virtual sink that the module provides; nil if it provides none.
  var virtualSink: (name: String, owner: SinkOwner)? {
    guard name == "module-pipe-sink" || name == "module-null-sink",
      let sink = value(of: "sink_name"), let owner = value(of: SinkOwner.property)
    else { return nil }
    return (sink, SinkOwner(text: owner))
  }

  /// The process that loaded the module; nil if the module's arguments do not name it.
  var owner: SinkOwner? { value(of: SinkOwner.property).map { SinkOwner(text: $0) } }

  private func value(of key: String) -> String? {
    let words = argument.split { " '\"".contains($0) }
    for (word, next) in zip(words, words.dropFirst() + [""]) {
      if word == "\(key)=" { return String(next) }
      if word.hasPrefix("\(key)=") { return String(word.dropFirst(key.count + 1)) }
    }
    return nil
  }
}
