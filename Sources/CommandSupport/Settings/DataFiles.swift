// SPDX-License-Identifier: Apache-2.0

package import Binaural
package import CommandOptions
import Glibc
import System
import UserFiles

/// Returns the path of the SOFA file that `--hrtf` names; nil if the option is not set. A name
/// without a slash is looked up in the current folder, then in the folder `HRTF` of the data
/// folder. A name that is not found is returned unchanged.
package func hrtfFile(_ command: ParsedCommand) -> String? {
  guard let name = command[Options.hrtf] else { return nil }
  guard !name.contains("/"), access(name, F_OK) != 0 else { return name }
  guard let path = hrtfFolder(command).map({ "\($0)/\(name)" }), access(path, F_OK) == 0 else {
    return name
  }
  return path
}

private func hrtfFolder(_ command: ParsedCommand) -> String? {
  dataFolder(command).map { "\($0)/HRTF" }
}

func dataFolder(_ command: ParsedCommand) -> String? {
  let environment = getenv("STILLSTAGE_DATA").map { String(cString: $0) }
  return ProgramFiles.ofThisProcess?.dataFolder(
    option: command[Options.data], environment: environment)
}

/// Returns the profile that `--headphones` names; nil if the option is not set or is "none".
///
/// - Throws: a failure if the profile cannot be found or read.
package func headphoneProfile(_ command: ParsedCommand) throws(CommandFailure) -> HeadphoneProfile?
{
  guard let word = command[Options.headphones], word.lowercased() != "none" else { return nil }
  let folders = [
    UserFolder.ofThisProcess?.headphonePath,
    dataFolder(command).map { "\($0)/Calibration/headphones" },
  ].compactMap { $0 }
  do throws(UserFileError) {
    return try HeadphoneFile.read(HeadphoneFile.find(word, in: folders))
  } catch { throw CommandFailure(error.description.withoutControls) }
}

/// The HRTF sets to choose from during playback: the requested set (if there is one), the default
/// set (nil), and the sets in the data folder.
package struct HRTFChoices {
  private var paths: [String?] = [nil]

  package init() {}

  package init(_ command: ParsedCommand) {
    if let wanted = hrtfFile(command) { paths.insert(wanted, at: 0) }
    guard let folder = hrtfFolder(command) else { return }
    let names = SystemFile.names(in: folder)?.filter { $0.hasSuffix(".sofa") } ?? []
    for path in names.sorted().map({ "\(folder)/\($0)" }) where !paths.contains(path) {
      paths.append(path)
    }
  }

  package func next(after path: String?) -> String? {
    paths[((paths.firstIndex(of: path) ?? 0) + 1) % paths.count]
  }
}
