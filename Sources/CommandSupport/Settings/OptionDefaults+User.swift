// SPDX-License-Identifier: Apache-2.0

package import CommandOptions
package import UserFiles

extension OptionDefaults {
  /// The defaults that a folder's `config.json` sets; none where there is no such file.
  ///
  /// - Throws: the file, the option's name and the reason.
  package init(in folder: UserFolder) throws(UserFileError) {
    try self.init(ConfigFile.texts(in: folder), path: folder.configPath)
  }

  /// The defaults that the content of a `config.json` sets.
  package init(_ bytes: [UInt8], path: String) throws(UserFileError) {
    try self.init(ConfigFile.texts(bytes, path: path), path: path)
  }

  private init(_ texts: [String: String], path: String) throws(UserFileError) {
    do throws(Problem) {
      try self.init(texts)
    } catch { throw UserFileError(path: path, reason: error.description) }
  }
}
