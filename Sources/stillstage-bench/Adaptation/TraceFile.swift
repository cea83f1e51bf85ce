// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Glibc
import HLS
import Laboratory

/// Reads a bandwidth trace from a CSV file with rows `t,kbps`, in seconds and kbit/s.
func readTrace(_ path: String) throws(CommandFailure) -> BandwidthTrace {
  let text = String(decoding: try readBytes(path), as: UTF8.self)
  do throws(BandwidthTraceError) { return try BandwidthTrace(name: path, csv: text) } catch {
    throw CommandFailure("\(path) is not a valid trace: \(error)")
  }
}

/// Reads a regular file of at most `limit` bytes.
private func readBytes(_ path: String, atMost limit: Int = 16 << 20) throws(CommandFailure)
  -> [UInt8]
{
  // Without O_NONBLOCK, opening a FIFO or a terminal could block forever.
  let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
  guard descriptor >= 0 else { throw unreadable(path, String(cString: strerror(errno))) }
  defer { close(descriptor) }
  var status = stat()
  guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
    throw unreadable(path, "it is not a regular file")
  }
  var bytes: [UInt8] = []
  var part = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = read(descriptor, &part, part.count)
    if count < 0, errno == EINTR { continue }
    guard count >= 0 else { throw unreadable(path, String(cString: strerror(errno))) }
    if count == 0 { return bytes }
    bytes += part[..<count]
    guard bytes.count <= limit else { throw unreadable(path, "it is larger than 16 MiB") }
  }
}

private func unreadable(_ path: String, _ reason: String) -> CommandFailure {
  CommandFailure("cannot read \(path): \(reason); choose another file")
}
