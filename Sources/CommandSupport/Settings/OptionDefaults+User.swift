// SPDX-License-Identifier: Apache-2.0

package import CommandOptions
package import UserFiles

extension OptionDefaults {
  /// Reads the defaults of `play` and `render` from a folder's `config.json`. Without that file,
  /// there are none.
  ///
  /// - Throws: an error with the file and the reason.
  package init(in folder: UserFolder) throws(UserFileError) {
    try self.init(ConfigFile.texts(in: folder), path: folder.configPath)
  }

  /// Reads the defaults of `sink` from a folder's `config.json`. Without that file, there are none.
  ///
  /// - Throws: an error with the file and the reason.
  package init(ofSinkIn folder: UserFolder) throws(UserFileError) {
    try self.init(ConfigFile.sinkTexts(in: folder), path: folder.configPath, for: .systemWide)
  }

  /// Reads the defaults of `play` and `render` from the content of a `config.json`.
  package init(_ bytes: [UInt8], path: String) throws(UserFileError) {
    try self.init(ConfigFile.texts(bytes, path: path), path: path)
  }

  private init(
    _ texts: [String: String], path: String, for scope: Scope = .files
  ) throws(UserFileError) {
    do throws(Problem) {
      try self.init(texts, for: scope)
    } catch { throw UserFileError(path: path, reason: error.description) }
  }
}
