// SPDX-License-Identifier: Apache-2.0
#pragma once
// Nothing to call: a program that is linked with this counts what happens between `realtime_enter`
// and `realtime_exit` (CRealtime), and tells it on stderr when it ends.
