// SPDX-License-Identifier: Apache-2.0

import CommandSupport

run("stillstage-engine", perform)
