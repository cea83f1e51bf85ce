// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Glibc
import HeadTracking

/// Writes to a file the packets exchanged with a tracker, for `--tracker replay:FILE`.
final class RawRecorder {
  let capture = FrameCapture()
  private let descriptor: Int32
  private let path: String
  private var hasHeading = false

  init(_ path: String) throws(CommandFailure) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw cannotWrite(path)
    }
  }

  deinit { close(descriptor) }

  /// Writes the packets that were captured since the last call.
  func flush() throws(CommandFailure) {
    guard let source = capture.source else { return }
    var text = hasHeading ? "" : FrameFile.heading(source)
    hasHeading = true
    for frame in capture.take() { text += FrameFile.line(frame) }
    guard text.isEmpty || write(text, to: descriptor) else {
      throw cannotWrite(path)
    }
  }
}
