// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Returns the value of an environment variable; nil if it is unset or empty.
package func environmentVariable(_ name: String) -> String? {
  guard let value = getenv(name) else { return nil }
  let text = String(cString: value)
  return text.isEmpty ? nil : text
}

/// Returns the directory of the running program; nil if it cannot be determined.
package func programDirectory() -> String? {
  var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
  let count = buffer.withUnsafeMutableBytes { bytes in
    readlink("/proc/self/exe", bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
  }
  guard count > 0, let slash = buffer[..<count].lastIndex(of: UInt8(ascii: "/")) else { return nil }
  return String(decoding: buffer[..<slash], as: UTF8.self)
}

func isRegularFile(_ path: String) -> Bool {
  var status = stat()
  return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
}

package func isExecutableFile(_ path: String) -> Bool {
  isRegularFile(path) && access(path, X_OK) == 0
}
