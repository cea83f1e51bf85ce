// SPDX-License-Identifier: Apache-2.0

private import Glibc
internal import Rendering

/// Reads piece by piece until `frames` have come or a piece is empty.
///
/// - Parameters:
///   - planes: channels x frames.
///   - channels: how many planes there are.
///   - atMost: frames of a piece.
///   - piece: writes at most so many frames to the beginning of planes; returns how many.
func readPieces(
  into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, channels: Int, frames: Int,
  atMost: Int,
  _ piece: (UnsafeMutablePointer<UnsafeMutablePointer<Float>>, Int) throws(PlaybackError) -> Int
) throws(PlaybackError) -> Int {
  let rest = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: channels)
  defer { rest.deallocate() }
  var done = 0
  while done < frames {
    for c in 0..<channels { (rest + c).initialize(to: planes[c] + done) }
    let count = try piece(rest, min(atMost, frames - done))
    if count == 0 { break }
    done += count
  }
  return done
}

/// Lets the calling thread sleep.
package func pauseThread(milliseconds: Int) { usleep(UInt32(max(0, milliseconds)) * 1000) }
