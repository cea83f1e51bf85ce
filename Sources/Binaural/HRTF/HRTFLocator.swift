// SPDX-License-Identifier: Apache-2.0

import System

/// Finds libmysofa's `default.sofa`, the default HRTF set.
public struct HRTFLocator: Sendable {
  private let variable: @Sendable (String) -> String?
  private let exists: @Sendable (String) -> Bool
  private let package: @Sendable (String) -> String?

  /// Creates a locator that uses the files of this machine, the environment of this process and
  /// pkg-config.
  public init() {
    self.init(variable: environmentVariable, exists: isRegularFile, package: pkgConfigVariable)
  }

  init(
    variable: @escaping @Sendable (String) -> String?,
    exists: @escaping @Sendable (String) -> Bool,
    package: @escaping @Sendable (String) -> String?
  ) {
    self.variable = variable
    self.exists = exists
    self.package = package
  }

  /// Returns the path of `default.sofa`; nil if it is not found.
  ///
  /// The search covers the XDG data directories, `/usr/share` and `/usr/local/share`, then
  /// directories that are derived from the pkg-config variables of libmysofa.
  public func defaultPath() -> String? {
    usualPlaces.first(where: exists) ?? packagePlaces().first(where: exists)
  }

  private var usualPlaces: [String] {
    var shares: [String] = []
    if let home = variable("XDG_DATA_HOME") {
      shares.append(home)
    } else if let home = variable("HOME") {
      shares.append(home + "/.local/share")
    }
    shares += (variable("XDG_DATA_DIRS") ?? "").split(separator: ":").map(String.init)
    shares += ["/usr/share", "/usr/local/share"]
    // The XDG base directory specification requires that relative paths be ignored.
    return shares.filter { $0.hasPrefix("/") }.map { "\($0)/libmysofa/default.sofa" }
  }

  private func packagePlaces() -> [String] {
    let asked = [
      ("datadir", ""), ("datarootdir", ""), ("prefix", "/share"), ("includedir", "/../share"),
      ("libdir", "/../share"), ("libdir", "/../../share"), ("pcfiledir", "/../../share"),
      ("pcfiledir", "/../../../share"),
    ]
    return asked.compactMap { name, suffix in
      package(name).map { "\($0)\(suffix)/libmysofa/default.sofa" }
    }
  }
}

private func pkgConfigVariable(_ name: String) -> String? {
  let process = CapturedProgram(
    ["pkg-config", "--variable=\(name)", "libmysofa"],
    environment: ProgramLaunch.readerEnvironment, timeoutSeconds: 2, maximumBytes: 4096)
  guard let (output, ending) = process.run(), ending == .exited(0) else { return nil }
  let line = output.prefix { $0 != UInt8(ascii: "\n") }
  return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
}
