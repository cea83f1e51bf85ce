// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import Glibc

/// The SOFA file that `--hrtf` means: a path, or the bare name of a file in the data folder's `HRTF`.
func hrtfFile(_ command: ParsedCommand) -> String? {
  guard let name = command[Options.hrtf] else { return nil }
  guard !name.contains("/"), access(name, F_OK) != 0 else { return name }
  let environment = getenv("STILLSTAGE_DATA").map { String(cString: $0) }
  let folder = ProgramFiles.ofThisProcess?.dataFolder(
    option: command[Options.data], environment: environment)
  guard let path = folder.map({ "\($0)/HRTF/\(name)" }), access(path, F_OK) == 0 else {
    return name
  }
  return path
}
