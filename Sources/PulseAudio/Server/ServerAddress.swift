// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Returns a description of a server's address for error messages. If `address` is nil, describes
/// the address that libpulse uses by default.
func describeServerAddress(_ address: String?) -> String {
  if let address { return address }
  if let named = getenv("PULSE_SERVER") { return "PULSE_SERVER=\(String(cString: named))" }
  if let directory = getenv("XDG_RUNTIME_DIR") {
    return "\(String(cString: directory))/pulse/native (PULSE_SERVER is not set)"
  }
  return "the user's default address (neither PULSE_SERVER nor XDG_RUNTIME_DIR is set)"
}
