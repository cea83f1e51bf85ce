// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Laboratory

run("stillstage-bench", perform)
