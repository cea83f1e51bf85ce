// SPDX-License-Identifier: Apache-2.0

import Binaural
import CommandSupport
import Glibc
import Rendering

/// The hidden command of `make build` that designs the decoders of the default settings, so that
/// even the first start need not design them.
let designsCommand = "make-designs"

/// Designs the default decoders of all orders at the usual sample rates, and stores them in a
/// folder.
///
/// - Parameter arguments: the folder.
/// - Returns: the exit code.
func makeDesigns(arguments: [String]) -> Int32 {
  guard arguments.count == 1, let real = realpath(arguments[0], nil) else {
    return failed("usage: \(designsCommand) FOLDER")
  }
  defer { free(real) }
  let cache = DesignCache(folder: String(cString: real))
  do {
    let hrtf = try HRTFChoice(path: nil, loader: SofaLoader(timeoutSeconds: 60, cache: cache))
    for order in 1...7 {
      for rate in [44_100.0, 48_000] {
        _ = try hrtf.filters(order: order, settings: RenderSettings(), sampleRate: rate)
      }
    }
    return 0
  } catch {
    return failed("\(error)")
  }
}

private func failed(_ message: String) -> Int32 {
  printError(message)
  return 1
}
