// SPDX-License-Identifier: Apache-2.0

/// The entry point of libFuzzer. Built by Tests/Fuzz/fuzz together with
/// Tests/MIDITrackingTests/MIDIFuzz.swift.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  MIDIFuzz.run(Array(UnsafeBufferPointer(start: data, count: size)))
  return 0
}
