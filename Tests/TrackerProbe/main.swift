// SPDX-License-Identifier: Apache-2.0

import Glibc

// Runs with the virtual tracker; Tests/HeadTrackingTests reads the output.
exit(Probe.run(Array(CommandLine.arguments.dropFirst())))
