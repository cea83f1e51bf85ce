// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Decodes the bytes of an attribute as one line of text: as UTF-8 or, if they are not valid UTF-8,
/// as Latin-1, which older files use.
func readableText(_ bytes: UnsafeBufferPointer<CChar>) -> String {
  let unsigned = bytes.map { UInt8(bitPattern: $0) }
  if let text = String(validating: unsigned, as: UTF8.self) { return oneLine(text) }
  return oneLine(String(String.UnicodeScalarView(unsigned.map { Unicode.Scalar($0) })))
}

/// Returns the text with control and format characters and line breaks replaced by spaces, so that
/// it cannot break a line or control a terminal.
func oneLine(_ text: String) -> String {
  var scalars = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .format, .surrogate: scalars.append(" ")
    default: scalars.append(scalar)
    }
  }
  return String(scalars)
}

/// Writes the entire text, or ends the process if writing fails.
func writeText(_ text: String, to descriptor: Int32) {
  Array(text.utf8).withUnsafeBytes { writeAll($0, to: descriptor) }
}

/// Writes all bytes, or ends the process if writing fails.
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
    if count < 0 && errno == EINTR { continue }
    if count <= 0 { exit(1) }
    rest = rest.dropFirst(count)
  }
}
