// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A temporary directory for a server, with a path short enough for a socket address. It is deleted
/// when this object is released.
final class PrivatePulseDirectory {
  let path: String

  init() throws {
    var template = Array("/tmp/sound-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw PrivatePulseError.notStarted("mkdtemp", log: String(cString: strerror(errno)))
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    _ = try? PrivatePulseProcess.run(
      ["rm", "-rf", path], environment: ["PATH": "/usr/bin:/bin"], directory: "/tmp")
  }

  func make(_ name: String) -> String {
    let directory = path + "/" + name
    mkdir(directory, 0o700)
    return directory
  }

  static func find(_ program: String) -> String? {
    for directory in ["/usr/bin", "/bin", "/usr/local/bin", "/usr/libexec", "/usr/sbin"] {
      let path = directory + "/" + program
      if access(path, X_OK) == 0 { return path }
    }
    return nil
  }

  static func require(_ program: String, package: String) throws -> String {
    guard let path = find(program) else {
      throw PrivatePulseError.missingProgram(program, package: package)
    }
    return path
  }
}
