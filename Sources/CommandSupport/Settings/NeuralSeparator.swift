// SPDX-License-Identifier: Apache-2.0

import AudioMix
import CommandOptions
import Glibc

/// The user's neural separator: DeepFilterNet's library and model.
enum NeuralSeparator {
  static let library = "libdeepfilter.so"
  static let model = "DeepFilterNet3_onnx.tar.gz"

  /// Returns the paths of both files, which must be in the same folder.
  ///
  /// - Throws: a failure if no folder that is searched contains both files.
  static func files(_ command: ParsedCommand) throws(CommandFailure) -> NeuralSeparatorFiles {
    let named = getenv("STILLSTAGE_SEPARATOR").map { String(cString: $0) }
    let folders = [named, dataFolder(command)].compactMap(\.self)
    for folder in folders where isComplete(folder) {
      return NeuralSeparatorFiles(library: "\(folder)/\(library)", model: "\(folder)/\(model)")
    }
    throw CommandFailure(
      "the neural separator needs \(library) and \(model), but they were not found together in "
        + (folders.isEmpty ? "a data folder" : folders.map { "'\($0)'" }.joined(separator: " or "))
        + "; copy both into one folder and set STILLSTAGE_SEPARATOR to its path, "
        + "or use --separator spatial")
  }

  private static func isComplete(_ folder: String) -> Bool {
    [library, model].allSatisfy { access("\(folder)/\($0)", R_OK) == 0 }
  }
}
