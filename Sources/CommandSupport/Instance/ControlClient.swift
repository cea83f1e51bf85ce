// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Sends requests to the running instance of `sink`.
package enum ControlClient {
  /// Sends a request and returns the answer. Each operation on the socket waits at most 3 s.
  ///
  /// - Throws: a failure if no instance can be reached, or if no valid answer arrives.
  package static func ask(
    _ request: ControlRequest, in folder: RuntimeFolder
  ) throws(CommandFailure) -> ControlAnswer {
    guard let socket = UnixSocket.connect(in: folder.path, name: SinkFiles.socket, seconds: 3)
    else {
      let isMissing = [ENOENT, ECONNREFUSED, ENOTDIR].contains(errno)
      let reason = String(cString: strerror(errno))
      throw isMissing
        ? CommandFailure("no system-wide output is running; start one with 'stillstage sink'")
        : CommandFailure(
          "cannot connect to a system-wide output: \(reason); if one is running, end its process "
            + "and start it again")
    }
    defer { close(socket) }
    var bytes = Array((request.line + "\n").utf8)
    while !bytes.isEmpty {
      let count = send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      guard count > 0 else { throw silence }
      bytes.removeFirst(count)
    }
    var received: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while received.last != 10, received.count < 1 << 22 {
      let count = recv(socket, &part, part.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw silence }
      received += part[..<count]
    }
    guard let answer = ControlAnswer(line: String(decoding: received, as: UTF8.self)) else {
      throw CommandFailure(
        "the running system-wide output gave an answer that this version does not understand; "
          + "restart it")
    }
    return answer
  }

  private static var silence: CommandFailure {
    CommandFailure("the running system-wide output does not answer; end its process and restart it")
  }
}
