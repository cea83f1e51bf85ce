// SPDX-License-Identifier: Apache-2.0

package import CommandOptions
import System

/// Returns the folder `Calibration/microphones`; nil if there is no data folder.
package func microphoneFolder(_ command: ParsedCommand) -> String? {
  dataFolder(command).map { "\($0)/Calibration/microphones" }
}

/// Returns the names of the microphones that have a file in a folder.
package func microphoneNames(in folder: String) -> [String] {
  (SystemFile.names(in: folder) ?? []).sorted().filter { $0.hasSuffix(".json") }
    .map { String($0.dropLast(".json".count)) }
}
