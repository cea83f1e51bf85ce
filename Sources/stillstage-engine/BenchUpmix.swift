// SPDX-License-Identifier: Apache-2.0
import CommandOptions
func benchUpmixCommand(_ command: ParsedCommand) throws(CommandFailure) {}
