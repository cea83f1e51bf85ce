// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Where the parts of Stillstage are, seen from the running executable: side by side in a build
/// folder, or installed in `bin`, `libexec/stillstage` and `share/stillstage` under one prefix.
public struct ProgramFiles: Sendable {
  /// The folder of the running executable.
  public let folder: String

  /// The files as seen from an executable in `folder`.
  public init(folder: String) {
    self.folder = folder
  }

  /// The files of this process, or `nil` when /proc does not tell its path.
  public static var ofThisProcess: ProgramFiles? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0, let path = String(validating: buffer[..<count], as: UTF8.self),
      let slash = path.lastIndex(of: "/")
    else { return nil }
    return ProgramFiles(folder: String(path[..<slash]))
  }

  /// An executable beside this one, or installed under the same prefix; `nil` when it is missing.
  public func executable(_ name: String) -> String? {
    ["\(folder)/\(name)", "\(folder)/../libexec/stillstage/\(name)"].first { path in
      access(path, X_OK) == 0
    }
  }

  /// The folder with HRTF and Calibration: the option's, the environment's (`STILLSTAGE_DATA`),
  /// the installed one, or the source tree's. The first two are taken at their word.
  public func dataFolder(option: String?, environment: String?) -> String? {
    if let named = option ?? environment, !named.isEmpty { return named }
    let installed = ["\(folder)/../share/stillstage", "\(folder)/../../share/stillstage"]
    return (installed + parents).first { path in
      access("\(path)/HRTF", R_OK | X_OK) == 0 && access("\(path)/Calibration", R_OK | X_OK) == 0
    }
  }

  /// The folders above this one, nearest first: a build folder lies inside the source tree.
  private var parents: [String] {
    var parents: [String] = []
    var path = folder[...]
    while let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      path = path[..<slash]
      parents.append(String(path))
    }
    return parents
  }
}
