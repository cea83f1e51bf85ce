// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Runs `stillstage-sofa FILE`: reads one SOFA file and answers on stdout.
///
/// libmysofa parses untrusted files, so this separate process limits its own memory and CPU time.
/// On success, the answer is the binary record of `writeAnswer`, with exit code 0. If the file is
/// not accepted, the answer is one line `cannot-open: ...`, `not-sofa: ...` or `refused: ...`, with
/// exit code 1. If the file was loaded, its properties follow as `key=value` lines. Wrong usage has
/// exit code 2.
func run(_ arguments: [String]) -> Never {
  endWithParent()
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
