// SPDX-License-Identifier: Apache-2.0

public import Binaural
import FoundationEssentials
import Glibc
import SignalProcessing
private import System

/// Finds and reads headphone profiles.
///
/// The formats are JSON (`Calibration/headphone.schema.json`) and text (`ParametricText`).
public enum HeadphoneFile {
  public static let schema = 1

  /// Returns the profile in a file. The file is JSON if its name ends in ".json", in upper or lower
  /// case, otherwise text.
  ///
  /// - Throws: `UserFileError` if the file is missing, cannot be read or is invalid.
  public static func read(_ path: String) throws(UserFileError) -> HeadphoneProfile {
    guard let bytes = try UserFolder.read(path) else {
      throw UserFileError(path: path, reason: "there is no such file; check the path")
    }
    if path.lowercased().hasSuffix(".json") { return try json(bytes, path: path) }
    guard let text = String(validating: bytes, as: UTF8.self), !text.contains("\0") else {
      throw UserFileError(path: path, reason: "it is not UTF-8 text or contains a NUL character")
    }
    do throws(ParametricText.Problem) {
      return HeadphoneProfile(name: name(of: path), filters: try ParametricText.parse(text))
    } catch { throw UserFileError(path: path, reason: error.description) }
  }

  /// Returns the path of the profile that a word names.
  ///
  /// - Parameters:
  ///   - word: a path that contains a slash or belongs to an existing file, or a profile's name in
  ///     upper or lower case, with or without the extension.
  ///   - folders: the folders to search, in this order; missing folders are skipped.
  /// - Throws: `UserFileError` if no profile has this name.
  public static func find(
    _ word: String, in folders: [String]
  ) throws(UserFileError) -> String {
    if word.contains("/") || access(word, F_OK) == 0 { return word }
    var names: [String] = []
    for folder in folders {
      for file in files(in: folder) {
        if [name(of: file), file].contains(where: { $0.lowercased() == word.lowercased() }) {
          return "\(folder)/\(file)"
        }
        names.append(name(of: file))
      }
    }
    let near = ParametricNames.near(word, names)
    let hint =
      near.isEmpty
      ? "; add a profile to \(folders.first ?? "a folder"), or give the path of a file"
      : "; did you mean \(near.map { "'\($0)'" }.joined(separator: " or "))?"
    throw UserFileError(path: word, reason: "no headphone profile has this name\(hint)")
  }

  /// Returns the names of the profiles in the folders, without extensions.
  public static func names(in folders: [String]) -> [String] {
    folders.flatMap { files(in: $0).map(name(of:)) }
  }

  private static func files(in folder: String) -> [String] {
    let names = SystemFile.names(in: folder) ?? []
    return names.sorted().filter { name in
      let ending = name.lowercased()
      return !name.hasPrefix(".") && (ending.hasSuffix(".json") || ending.hasSuffix(".txt"))
    }
  }

  private static func name(of path: String) -> String {
    let file = path.split(separator: "/").last.map(String.init) ?? path
    guard let dot = file.lastIndex(of: "."), dot > file.startIndex else { return file }
    return String(file[..<dot])
  }

  private static func json(_ bytes: [UInt8], path: String) throws(UserFileError) -> HeadphoneProfile
  {
    let version = try JSONFile.decode(Version.self, bytes, path: path).schema
    guard version == schema else {
      throw UserFileError(
        path: path,
        reason: "it has schema \(version), but this program reads only schema \(schema)")
    }
    let contents = try JSONFile.decode(Contents.self, bytes, path: path)
    var filters: [ParametricFilter] = []
    for (index, entry) in contents.filters.enumerated() {
      guard let kind = ParametricFilter.Kind(rawValue: entry.type) else {
        throw UserFileError(
          path: path,
          reason: "'filters.\(index).type' must be one of "
            + ParametricFilter.Kind.allCases.map(\.rawValue).joined(separator: ", "))
      }
      let needsGain = kind == .peak || kind == .lowShelf || kind == .highShelf
      guard let gain = needsGain ? entry.gain : 0 else {
        throw UserFileError(path: path, reason: "'filters.\(index).gain' is missing")
      }
      guard (1...200_000).contains(entry.frequency), (-60...60).contains(gain),
        (0.01...1000).contains(entry.q)
      else {
        throw UserFileError(
          path: path,
          reason: "'filters.\(index)': frequency must be from 1 to 200000 Hz, gain "
            + "from -60 to 60 dB, and q from 0.01 to 1000"
        )
      }
      filters.append(
        ParametricFilter(kind, frequency: entry.frequency, gain: gain, quality: entry.q))
    }
    return HeadphoneProfile(name: contents.name, target: contents.target, filters: filters)
  }
}

private struct Version: Decodable {
  let schema: Int
}

private struct Contents: Decodable {
  let name: String
  let target: String
  let filters: [Entry]

  struct Entry: Decodable {
    let type: String
    let frequency: Double
    let gain: Double?
    let q: Double
  }
}
