// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Describes a server's address for error messages. For nil, describes libpulse's default address,
/// but does not consider libpulse's configuration file.
func describeServerAddress(_ address: String?) -> String {
  if let address { return address }
  if let named = getenv("PULSE_SERVER") { return "PULSE_SERVER=\(String(cString: named))" }
  if let directory = getenv("XDG_RUNTIME_DIR") {
    return "\(String(cString: directory))/pulse/native (PULSE_SERVER is not set)"
  }
  return "the user's default address (neither PULSE_SERVER nor XDG_RUNTIME_DIR is set)"
}

/// Returns whether a server's address is a network address. If `address` is nil, examines
/// `PULSE_SERVER`, and returns false if that is not set. Examines only the first address of a list.
func isRemoteServer(_ address: String?) -> Bool {
  guard let text = address ?? getenv("PULSE_SERVER").map({ String(cString: $0) }),
    let first = text.split(separator: " ").first
  else { return false }
  // An address may begin with a machine ID in braces.
  let end = first.lastIndex(of: "}").map { first.index(after: $0) } ?? first.startIndex
  let place = first[end...]
  return !place.hasPrefix("/") && !place.hasPrefix("unix:")
}
