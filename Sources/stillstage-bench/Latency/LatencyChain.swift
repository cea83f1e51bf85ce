// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import HeadTracking
import Playback
import Rendering
import SoundServer

/// The part of the program between the bench's noise and the real sink.
protocol LatencyChain {
  /// The playback sample rate, in Hz.
  var sampleRate: Int { get }
  var output: AudioOutputStatus { get }
  /// The source of the poses that the renderer uses.
  var poses: HeadPoseSource { get }

  func start() throws(CommandFailure)
  func stop()
}

/// The engine of `play`.
struct PlayerChain: LatencyChain {
  let poses: HeadPoseSource
  private let player: Player

  init(_ options: PlayerOptions, head: HeadPoseSource) throws(CommandFailure) {
    poses = head
    player = try playing { () throws(PlaybackError) in
      try Player(options: options) { rate throws(PlaybackError) in BenchNoise(sampleRate: rate) }
    }
  }

  var sampleRate: Int { player.sampleRate }
  var output: AudioOutputStatus { player.status.output }

  func start() throws(CommandFailure) {
    try playing { () throws(PlaybackError) in try player.start() }
  }

  func stop() { player.stop() }
}
