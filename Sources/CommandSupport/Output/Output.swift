// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import FoundationEssentials
import Glibc
import Media

/// Prints text to stdout, without adding a line break.
///
/// - Throws: a failure if writing fails.
package func printOutput(_ text: String) throws(CommandFailure) {
  guard write(text, to: STDOUT_FILENO) else {
    throw CommandFailure(
      "cannot write to standard output: \(String(cString: strerror(errno))); "
        + "redirect it to a writable file")
  }
}

/// Prints a value to stdout as JSON with sorted keys and a line break at the end.
package func printJSON(_ value: some Encodable) throws(CommandFailure) {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
  let text: String
  do {
    text = String(decoding: try encoder.encode(value), as: UTF8.self)
  } catch {
    throw CommandFailure("cannot encode the result as JSON: \(error); report this bug")
  }
  try printOutput(text + "\n")
}

/// Checks that a WAV file can be written. Does not check a pipe or a device.
///
/// - Throws: a failure if the file cannot be written.
package func checkWritable(_ path: String) throws(CommandFailure) {
  // Opening a pipe or a device can have a side effect.
  var status = stat()
  if stat(path, &status) == 0, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) { return }
  do throws(MediaError) {
    try WAVWriter(path: path, layout: .mono, sampleRate: 48000).abort()
  } catch { throw CommandFailure(error.description) }
}

/// Formats rows of cells as lines of text, in left-aligned columns.
package func table(_ rows: [[String]]) -> String {
  let columns = rows.map(\.count).max() ?? 0
  let widths = (0..<columns).map { column in
    rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
  }
  return rows.reduce(into: "") { text, row in
    var cells = zip(row, widths).map { $0.padded(to: $1) }
    if let last = row.last { cells[cells.count - 1] = last }
    text += cells.joined(separator: "  ") + "\n"
  }
}
