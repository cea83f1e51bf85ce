// SPDX-License-Identifier: Apache-2.0

import CRealtime
import HeadTracking

/// A port whose bytes are also written to a capture.
final class CapturedLink: MIDILink {
  private let link: any MIDILink
  private let capture: FrameCapture

  init(_ link: any MIDILink, _ capture: FrameCapture) {
    (self.link, self.capture) = (link, capture)
  }

  func read(timeoutNanoseconds: Int64) -> MIDIInput {
    let input = link.read(timeoutNanoseconds: timeoutNanoseconds)
    if case .bytes(let bytes) = input {
      capture.add(bytes, .received, time: monotonic_nanoseconds())
    }
    return input
  }

  func write(_ message: [UInt8]) throws(MIDIError) {
    capture.add(message, .sent, time: monotonic_nanoseconds())
    try link.write(message)
  }
}
