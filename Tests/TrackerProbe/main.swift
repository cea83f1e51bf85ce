// SPDX-License-Identifier: Apache-2.0

import Glibc

// The program under the virtual tracker: Tests/HeadTrackingTests reads what it prints.
exit(Probe.run(Array(CommandLine.arguments.dropFirst())))
