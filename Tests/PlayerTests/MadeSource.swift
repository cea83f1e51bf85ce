// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Geometry
import Glibc
import Media
import Playback

/// A stereo tone of known length, generated while it is read.
final class MadeSource: SoundSource {
  let layout = ChannelLayout.stereo
  let sampleRate: Int
  let duration: Int?
  let title: String? = nil
  let warnings: [String] = []
  let another: (@Sendable () throws(PlaybackError) -> any SoundSource)?
  private let canSeek: Bool
  private let waitBeforeFirstRead: () -> Void
  private var hasBegun = false
  private var next = 0
  private let hertz = 1000.0

  init(
    sampleRate: Int, seconds: Double, canSeek: Bool = true,
    another: (@Sendable () throws(PlaybackError) -> any SoundSource)? = nil,
    waitBeforeFirstRead: @escaping () -> Void = {}
  ) {
    self.sampleRate = sampleRate
    self.canSeek = canSeek
    self.waitBeforeFirstRead = waitBeforeFirstRead
    self.another = another
    duration = Int(seconds * Double(sampleRate))
  }

  func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    if !hasBegun { waitBeforeFirstRead() }
    hasBegun = true
    let count = min(frames, (duration ?? 0) - next)
    for i in 0..<count {
      let value = Float(0.25 * sin(2 * .pi * hertz * Double(next + i) / Double(sampleRate)))
      planes[0][i] = value
      planes[1][i] = value
    }
    next += count
    return count
  }

  func seek(toFrame frame: Int) throws(PlaybackError) {
    guard canSeek else { throw .media(.trackLost(path: "made")) }
    next = max(0, min(frame, duration ?? 0))
  }
}
