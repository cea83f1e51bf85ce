// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Glibc
import PulseAudio

// Hidden commands, which users do not run themselves.
switch CommandLine.arguments.dropFirst().first {
case keeperCommand:
  exit(PulseSinkKeeper.run(arguments: Array(CommandLine.arguments.dropFirst(2))))
case designsCommand:
  exit(makeDesigns(arguments: Array(CommandLine.arguments.dropFirst(2))))
default:
  run("stillstage-engine", perform)
}
