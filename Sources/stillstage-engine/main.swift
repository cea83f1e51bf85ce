// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Glibc
import PulseAudio

// The keeper of PulseAudio's virtual sinks is a command of its own that no user calls.
if CommandLine.arguments.dropFirst().first == keeperCommand {
  exit(PulseSinkKeeper.run(arguments: Array(CommandLine.arguments.dropFirst(2))))
}
run("stillstage-engine", perform)
