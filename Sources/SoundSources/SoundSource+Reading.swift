// SPDX-License-Identifier: Apache-2.0

private import Glibc
internal import Rendering

/// Reads in pieces until `frames` frames have been read or a piece is empty.
///
/// - Parameters:
///   - planes: channels x frames.
///   - piece: writes at most the given number of frames to the given planes, and returns the number
///     of frames written.
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

/// Makes the calling thread sleep. A negative time counts as 0.
package func pauseThread(milliseconds: Int) { usleep(UInt32(max(0, milliseconds)) * 1000) }
