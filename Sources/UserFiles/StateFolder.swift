// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The user's state folder: `$XDG_STATE_HOME/stillstage` or `~/.local/state/stillstage`.
package enum StateFolder {
  /// The folder's path; nil if neither `XDG_STATE_HOME` nor `HOME` is an absolute path.
  package static var path: String? {
    func variable(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    let state = variable("XDG_STATE_HOME") ?? variable("HOME").map { $0 + "/.local/state" }
    return state.map { $0 + "/stillstage" }
  }
}
