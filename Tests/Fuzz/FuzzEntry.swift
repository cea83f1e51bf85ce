// SPDX-License-Identifier: Apache-2.0

/// The entry point of libFuzzer. Tests/Fuzz/fuzz builds it together with the file of a harness, and
/// defines `Harness`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  Harness.run(Array(UnsafeBufferPointer(start: data, count: size)))
  return 0
}
