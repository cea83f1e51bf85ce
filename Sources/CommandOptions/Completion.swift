// SPDX-License-Identifier: Apache-2.0

/// Completion scripts for shells, made from the option table.
public enum Completion {
  public static func script(for shell: Shell) -> String {
    switch shell {
    case .bash: BashCompletion.text
    case .zsh: ZshCompletion.text
    case .fish: FishCompletion.text
    }
  }
}
