// SPDX-License-Identifier: Apache-2.0

// `bench latency` starts such servers too.
@_exported public import PrivateServers
