// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Geometry
import Glibc
import Synchronization

/// Implements `--save-motion FILE.csv`: writes the head pose during a recording as t,w,x,y,z.
final class MotionSaver: Sendable {
  private struct State {
    var text = "t,w,x,y,z\n"
    var last = -1.0
  }

  /// The shortest time between two rows [s].
  private static let interval = 0.0095

  private let state = Mutex(State())
  private let descriptor: Int32
  private let path: String

  /// Creates the file, or truncates an existing file.
  init(path: String) throws(CommandFailure) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw CommandFailure(
        "cannot write the motion to '\(path)': \(String(cString: strerror(errno))); choose another "
          + "file")
    }
  }

  deinit { close(descriptor) }

  /// Adds the pose at a time in the recording [s], unless the previous row is less than `interval`
  /// earlier.
  func add(_ pose: Quaternion, at seconds: Double) {
    state.withLock { state in
      // Whole microseconds keep the numbers short.
      let time = (seconds * 1e6).rounded() / 1e6
      guard time - state.last >= Self.interval else { return }
      state.last = time
      let numbers = [time, pose.w, pose.x, pose.y, pose.z]
      state.text += numbers.map { "\($0)" }.joined(separator: ",") + "\n"
    }
  }

  /// Writes the rows that were added since the last call. Returns false if writing fails.
  func flush() -> Bool {
    let text = state.withLock { state in
      defer { state.text = "" }
      return state.text
    }
    return text.isEmpty || write(text, to: descriptor)
  }
}
