// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Returns the path of a server's socket for error messages, or the name of the socket with an
/// explanation if the folder is unknown.
///
/// - Parameter address: the name or the path of the socket; nil for the user's own server.
func describeServerAddress(_ address: String?) -> String {
  func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
  let name = address ?? variable("PIPEWIRE_REMOTE") ?? "pipewire-0"
  if name.hasPrefix("/") { return name }
  if let folder = variable("PIPEWIRE_RUNTIME_DIR") ?? variable("XDG_RUNTIME_DIR") {
    return "\(folder)/\(name)"
  }
  return "\(name) (neither PIPEWIRE_RUNTIME_DIR nor XDG_RUNTIME_DIR is set)"
}
