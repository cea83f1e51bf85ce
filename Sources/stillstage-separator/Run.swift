// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The delay of the output relative to the input, in frames: that of DeepFilterNet 3 (960 - 480 and
/// two blocks of look-ahead) and that of the queue.
let modelDelayFrames = 1440
let queueDelayFrames = 608

/// Runs `stillstage-separator LIBRARY MODEL`: enhances speech for the process at the other end of
/// standard input, which is a socket.
///
/// A request is a UInt32 number of samples and then as many Float32 samples at 48 kHz; the number 0
/// starts a new stream. An answer is a UInt32 0 and then as many samples, or the UInt32 length of a
/// text and then the text, which states the reason of a failure; the process then ends. The first
/// answer comes without a request, when the model is loaded.
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

/// The reason why the library cannot be used.
struct Failure: Error { let reason: String }

private func answer() { withUnsafeBytes(of: UInt32(0)) { writeAll($0, to: 0) } }

private func readNumber() -> UInt32 {
  var number: UInt32 = 0
  withUnsafeMutableBytes(of: &number) { readAll($0) }
  return number
}

/// Fills the buffer, or ends the process at the end of the input.
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

/// Writes all bytes, or ends the process if writing fails.
private func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
    if count < 0 && errno == EINTR { continue }
    if count <= 0 { exit(1) }
    rest = rest.dropFirst(count)
  }
}
