// SPDX-License-Identifier: Apache-2.0

// Tests use its random numbers and files.
@_exported public import System
