// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Finds Stillstage's files, starting from the folder of the running executable. That folder can
/// belong to a build or to an installation.
public struct ProgramFiles: Sendable {
  /// The folder of the running executable.
  public let folder: String

  public init(folder: String) {
    self.folder = folder
  }

  /// The files of this process; nil if /proc does not give the path of its executable or the path
  /// is not UTF-8.
  public static var ofThisProcess: ProgramFiles? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0, let path = String(validating: buffer[..<count], as: UTF8.self),
      let slash = path.lastIndex(of: "/")
    else { return nil }
    return ProgramFiles(folder: String(path[..<slash]))
  }

  /// Returns the path of an executable, in `folder` or in `libexec/stillstage` under the same
  /// prefix; nil if it is in neither.
  public func executable(_ name: String) -> String? {
    ["\(folder)/\(name)", "\(folder)/../libexec/stillstage/\(name)"].first { path in
      access(path, X_OK) == 0
    }
  }

  /// Returns the folder that contains the folders HRTF and Calibration; nil if none is found.
  ///
  /// The order of preference is: the option (`--data`), the environment variable
  /// (`STILLSTAGE_DATA`), the installed files, the source tree. A folder from the option or the
  /// variable is not checked; an empty path is ignored.
  public func dataFolder(option: String?, environment: String?) -> String? {
    if let named = option ?? environment, !named.isEmpty { return named }
    let installed = ["\(folder)/../share/stillstage", "\(folder)/../../share/stillstage"]
    return (installed + parents).first { path in
      access("\(path)/HRTF", R_OK | X_OK) == 0 && access("\(path)/Calibration", R_OK | X_OK) == 0
    }
  }

  /// The folders that contain `folder`, nearest first, without the root folder.
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
