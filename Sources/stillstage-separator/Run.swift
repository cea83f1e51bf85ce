// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The delays of the model and of the queue, in frames. DeepFilterNet 3 delays sound by the overlap
/// of its windows (960 - 480 frames) and by a look-ahead of two blocks of 480 frames.
let modelDelayFrames = 1440
let queueDelayFrames = 608

/// Runs `stillstage-separator LIBRARY MODEL`: enhances speech for the process at the other end of
/// standard input, a socket.
///
/// A request is the number of samples as a UInt32, then the samples as Float32 at 48 kHz. The
/// number 0 starts a new stream. A number above 2^20 ends the process without an answer. An answer
/// is the UInt32 0, then as many enhanced samples as the request contains. If the library fails,
/// the answer is the length of an error text as a UInt32, then the text, and the process ends. The
/// first answer comes without a request, when the model is loaded.
func run(_ arguments: [String]) -> Never {
  endWithConnection()
  setLimits()
  guard arguments.count == 3 else {
    Array("usage: stillstage-separator LIBRARY MODEL\n".utf8).withUnsafeBytes {
      writeAll($0, to: 2)
    }
    exit(2)
  }
  do {
    let library = try Library(path: arguments[1])
    var stream = try Stream(library, model: arguments[2])
    answer()
    var samples: [Float] = []
    while true {
      let count = Int(readNumber())
      if count == 0 {
        stream.end()
        stream = try Stream(library, model: arguments[2])
        answer()
        continue
      }
      guard count <= 1 << 20 else { exit(1) }
      samples = [Float](repeating: 0, count: count)
      samples.withUnsafeMutableBytes { readAll($0) }
      try stream.process(&samples)
      answer()
      samples.withUnsafeBytes { writeAll($0, to: 0) }
    }
  } catch {
    let text = Array(error.reason.utf8.prefix(4096))
    withUnsafeBytes(of: UInt32(text.count)) { writeAll($0, to: 0) }
    text.withUnsafeBytes { writeAll($0, to: 0) }
    exit(1)
  }
}

/// Why the library or the model cannot be used.
struct Failure: Error { let reason: String }

private func answer() { withUnsafeBytes(of: UInt32(0)) { writeAll($0, to: 0) } }

private func readNumber() -> UInt32 {
  var number: UInt32 = 0
  withUnsafeMutableBytes(of: &number) { readAll($0) }
  return number
}

/// Fills the buffer. Ends the process at the end of the input, or if reading fails.
private func readAll(_ bytes: UnsafeMutableRawBufferPointer) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let part = UnsafeMutableRawBufferPointer(rebasing: rest)
    let count = read(0, part.baseAddress, part.count)
    if count < 0 && errno == EINTR { continue }
    if count <= 0 { exit(count == 0 ? 0 : 1) }
    rest = rest.dropFirst(count)
  }
}

/// Writes all bytes. Ends the process if writing fails.
private func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
    if count < 0 && errno == EINTR { continue }
    if count <= 0 { exit(1) }
    rest = rest.dropFirst(count)
  }
}
