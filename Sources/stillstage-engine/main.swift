// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Glibc
import PulseAudio

// A hidden command runs the keeper of the virtual sinks on PulseAudio.
if CommandLine.arguments.dropFirst().first == keeperCommand {
  exit(PulseSinkKeeper.run(arguments: Array(CommandLine.arguments.dropFirst(2))))
}
run("stillstage-engine", perform)
