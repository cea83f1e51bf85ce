// SPDX-License-Identifier: Apache-2.0

private import Glibc
internal import Rendering

/// Calls `piece` until it has written `frames` frames in total or returns 0. Returns the number of
/// frames written.
///
/// - Parameters:
///   - planes: channels x frames.
///   - atMost: the largest number of frames to request in one call of `piece`.
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
