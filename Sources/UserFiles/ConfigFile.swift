// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Reads `config.json`, the user's defaults.
///
/// The file is one JSON object. Most keys are option names, with text, a number, `true`, `false` or
/// a list of numbers as the value. The keys `sinks`, `airpods` and `midi` have objects as values.
/// The value of `sink` is text (the option `--sink`) or an object (the options of the command
/// `sink`).
public enum ConfigFile {
  /// Returns the words under `sinks` in a folder's `config.json`, by sink name; empty if there are
  /// none.
  ///
  /// - Parameter words: the permitted words.
  /// - Throws: `UserFileError` if the file cannot be read or decoded, or if a word is not
  ///   permitted.
  public static func sinks(
    in folder: UserFolder, accepting words: [String]
  ) throws(UserFileError) -> [String: String] {
    let path = folder.configPath
    guard let bytes = try UserFolder.read(path) else { return [:] }
    let sinks = try JSONFile.decode(SinkWords.self, bytes, path: path).sinks ?? [:]
    for (name, word) in sinks.sorted(by: { $0.key < $1.key }) where !words.contains(word) {
      throw UserFileError(
        path: path,
        reason: "in 'sinks', '\(name)' is '\(word)', but must be one of "
          + words.joined(separator: ", "))
    }
    return sinks
  }

  private struct SinkWords: Decodable {
    let sinks: [String: String]?
  }

  /// Returns the effect of pressing an AirPod's stem: `recentre` or `none`. This is `airpods.stem`
  /// in a folder's `config.json`; `none` if it is missing.
  ///
  /// - Throws: `UserFileError` if the file cannot be read or decoded, or if the value is another
  ///   word.
  public static func stem(in folder: UserFolder) throws(UserFileError) -> String {
    let path = folder.configPath
    guard let bytes = try UserFolder.read(path) else { return "none" }
    let stem = try JSONFile.decode(AirPodsEntry.self, bytes, path: path).airpods?.stem ?? "none"
    guard ["recentre", "none"].contains(stem) else {
      throw UserFileError(
        path: path, reason: "'airpods.stem' is '\(stem)', but must be recentre or none")
    }
    return stem
  }

  private struct AirPodsEntry: Decodable {
    struct Values: Decodable { let stem: String? }
    let airpods: Values?
  }

  /// The keys that are not option names.
  private static let objects: Set<String> = ["airpods", "midi", "sinks"]

  /// Returns the options in a folder's `config.json` as texts for the command line, by name; empty
  /// if there is no file.
  ///
  /// - Throws: `UserFileError` if the file cannot be read or decoded, or if a value has a type that
  ///   no option accepts.
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
    where !objects.contains(name) && !(name == "sink" && value.members != nil) {
      guard let text = value.text else {
        throw UserFileError(
          path: path,
          reason: "'\(name)' must be text, a number, true, false or a list of numbers")
      }
      texts[name] = text
    }
    return texts
  }

  /// Returns the options in the object `sink` of a folder's `config.json`, in the form that
  /// `texts(in:)` returns; empty if there are none.
  ///
  /// - Throws: the same errors as `texts(in:)`.
  public static func sinkTexts(in folder: UserFolder) throws(UserFileError) -> [String: String] {
    let path = folder.configPath
    guard let bytes = try UserFolder.read(path) else { return [:] }
    let values = try JSONFile.decode([String: ConfigValue].self, bytes, path: path)
    var texts: [String: String] = [:]
    for (name, value) in values["sink"]?.members ?? [:] {
      guard let text = value.text else {
        throw UserFileError(
          path: path,
          reason: "the value of 'sink.\(name.filter { !$0.isNewline })' must be text, a number, "
            + "true, false or a list of numbers")
      }
      texts[name] = text
    }
    return texts
  }
}

/// A value in `config.json`: an option's value or an object.
private struct ConfigValue: Decodable {
  /// The value as text for the command line; nil if no option accepts its type.
  let text: String?
  /// The members of an object; nil if the value is not an object.
  let members: [String: ConfigValue]?

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    members = try? value.decode([String: ConfigValue].self)
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
