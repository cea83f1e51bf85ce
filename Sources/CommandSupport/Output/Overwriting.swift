// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Throws an error if an output file is also an input file, or if two outputs are the same file.
///
/// Call this function before any file is opened. A nil path is ignored.
package func refuseOverwriting(
  _ inputs: [String?], by outputs: [String?]
) throws(CommandFailure) {
  let written = outputs.compactMap(\.self)
  for (index, path) in written.enumerated() {
    let others = inputs.compactMap(\.self) + written[..<index]
    for other in others where isSameFile(path, other) {
      throw CommandFailure(
        "writing '\(path)' would overwrite '\(other)'; choose another output file")
    }
  }
}

/// Returns whether both paths name the same regular file. If the first path names no file, returns
/// whether the paths are equal.
private func isSameFile(_ path: String, _ other: String) -> Bool {
  var (first, second) = (stat(), stat())
  guard stat(path, &first) == 0 else { return path == other }
  guard first.st_mode & S_IFMT == S_IFREG, stat(other, &second) == 0 else { return false }
  return first.st_dev == second.st_dev && first.st_ino == second.st_ino
}
