// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Reads `config.json`: the user's defaults for the options of `play` and `render`, and what is
/// allowed on each output.
///
/// The file is one JSON object. Its keys are option names without dashes. Its values are text, a
/// number, `true` or `false` (on or off), or a list of numbers for an option with comma-separated
/// numbers. The additional key `sinks` is an object with one word for each sink, under the sound
/// server's name for it.
public enum ConfigFile {
  /// Returns the words for sinks in a folder's `config.json`; empty if there is no such file.
  ///
  /// - Parameter words: the permitted words.
  /// - Throws: the file and the error in it.
  public static func sinks(
    in folder: UserFolder, accepting words: [String]
  ) throws(UserFileError) -> [String: String] {
    let path = folder.configPath
    guard let bytes = try UserFolder.read(path) else { return [:] }
    let sinks = try JSONFile.decode(SinkWords.self, bytes, path: path).sinks ?? [:]
    for (name, word) in sinks.sorted(by: { $0.key < $1.key }) where !words.contains(word) {
      throw UserFileError(
        path: path,
        reason: "the value '\(word)' of '\(name)' in 'sinks' must be one of "
          + words.joined(separator: ", "))
    }
    return sinks
  }

  private struct SinkWords: Decodable {
    let sinks: [String: String]?
  }

  /// Returns the options in a folder's `config.json` as they would be given on the command line;
  /// empty if there is no such file.
  public static func texts(in folder: UserFolder) throws(UserFileError) -> [String: String] {
    let path = folder.configPath
    guard let bytes = try UserFolder.read(path) else { return [:] }
    return try texts(bytes, path: path)
  }

  package static func texts(
    _ bytes: [UInt8], path: String
  ) throws(UserFileError) -> [String: String] {
    var texts: [String: String] = [:]
    for (name, value) in try JSONFile.decode([String: ConfigValue].self, bytes, path: path)
    where name != "sinks" {
      guard let text = value.text else {
        throw UserFileError(
          path: path, reason: "the value of '\(name)' must be text, a number, true or false")
      }
      texts[name] = text
    }
    return texts
  }
}

/// A value as it would be given on the command line.
private struct ConfigValue: Decodable {
  /// Nil if no option accepts the value.
  let text: String?

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let isOn = try? value.decode(Bool.self) {
      text = isOn ? "on" : "off"
    } else if let number = try? value.decode(Int.self) {
      text = "\(number)"
    } else if let number = try? value.decode(Double.self) {
      text = "\(number)"
    } else if let list = try? value.decode([Double].self) {
      text = list.map { "\($0)" }.joined(separator: ",")
    } else {
      text = try? value.decode(String.self)
    }
  }
}
