// SPDX-License-Identifier: Apache-2.0

import Glibc

/// `stillstage-sofa FILE`: reads one SOFA file in a process of its own and answers on stdout.
///
/// libmysofa is C that parses untrusted files, so it runs here under limits, away from the player.
/// The answer is the binary record of `Answer` and exit code 0, or one line
/// `cannot-open: …`, `not-sofa: …` or `refused: …` (the failed check with its numbers) followed by
/// what is known of the file as `key=value` lines, and exit code 1. Wrong usage is exit code 2.
func run(_ arguments: [String]) -> Never {
  setLimits()
  guard arguments.count == 2 else {
    writeText("usage: stillstage-sofa FILE\n", to: 2)
    exit(2)
  }
  do {
    let descriptor = try openRegularFile(arguments[1])
    let file = try SofaFile(descriptor: descriptor)
    do {
      let content = try checked(file)
      try writeAnswer(file, content)
    } catch {
      refuse(error, about: file)
    }
  } catch {
    refuse(error, about: nil)
  }
  exit(0)
}

private func refuse(_ refusal: Refusal, about file: SofaFile?) -> Never {
  var text = "\(refusal.kind.rawValue): \(oneLine(refusal.reason))\n"
  for (key, value) in file?.description ?? [] { text += "\(key)=\(oneLine(value))\n" }
  writeText(text, to: 1)
  exit(1)
}
