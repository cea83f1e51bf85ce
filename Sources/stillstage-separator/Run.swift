// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The delays of the model and of the queue, in frames. The delay of DeepFilterNet 3 is 960 - 480
/// frames plus two blocks of look-ahead.
let modelDelayFrames = 1440
let queueDelayFrames = 608

/// Runs `stillstage-separator LIBRARY MODEL`: enhances speech for the process at the other end of
/// standard input, a socket.
///
/// A request is a UInt32 number of samples and the Float32 samples at 48 kHz. The number 0 starts a
/// new stream. An answer is a UInt32 0 and the samples, or the UInt32 length of an error text and
/// the text, after which the process ends. The first answer comes without a request, when the model
/// is loaded.
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

/// Why the library cannot be used.
struct Failure: Error { let reason: String }

private func answer() { withUnsafeBytes(of: UInt32(0)) { writeAll($0, to: 0) } }

private func readNumber() -> UInt32 {
  var number: UInt32 = 0
  withUnsafeMutableBytes(of: &number) { readAll($0) }
  return number
}

/// Fills the buffer. Ends the process at the end of the input.
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
