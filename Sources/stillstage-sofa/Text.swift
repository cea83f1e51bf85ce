// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Decodes an attribute as one line of UTF-8 or, if it is not valid UTF-8, of Latin-1.
func readableText(_ bytes: UnsafeBufferPointer<CChar>) -> String {
  let unsigned = bytes.map { UInt8(bitPattern: $0) }
  if let text = String(validating: unsigned, as: UTF8.self) { return oneLine(text) }
  return oneLine(String(String.UnicodeScalarView(unsigned.map { Unicode.Scalar($0) })))
}

/// Returns the text with spaces in place of control characters, format characters and line breaks.
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

/// Writes the entire text. Ends the process if writing fails.
func writeText(_ text: String, to descriptor: Int32) {
  Array(text.utf8).withUnsafeBytes { writeAll($0, to: descriptor) }
}

/// Writes all bytes. Ends the process if writing fails.
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
    if count < 0 && errno == EINTR { continue }
    if count <= 0 { exit(1) }
    rest = rest.dropFirst(count)
  }
}
