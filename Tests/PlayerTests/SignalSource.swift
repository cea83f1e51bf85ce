// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Loudness
import Media
import TestSupport

@testable import Rendering

/// Samples as a source.
final class SignalSource: SoundSource, @unchecked Sendable {
  let layout: ChannelLayout
  let sampleRate = 48_000
  let channels: [[Float]]
  let title: String? = nil
  let warnings: [String] = []
  var stated: StatedLoudness?
  var isBinaural = false
  private let canBeOpenedAgain: Bool
  private var next = 0

  init(_ layout: ChannelLayout, _ channels: [[Float]], canBeOpenedAgain: Bool = true) {
    self.layout = layout
    self.channels = channels
    self.canBeOpenedAgain = canBeOpenedAgain
  }

  var duration: Int? { channels[0].count }
  var statedLoudness: StatedLoudness? { stated }
  var another: (@Sendable () throws(PlaybackError) -> any SoundSource)? {
    guard canBeOpenedAgain else { return nil }
    return { [layout, channels, isBinaural] in
      let source = SignalSource(layout, channels)
      source.isBinaural = isBinaural
      return source
    }
  }

  func measure(by meter: LoudnessMeter) {
    let signal = PlanarSignal(channels)
    meter.add(UnsafePointer(signal.channels), frames: signal.frames)
  }

  func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    let count = min(frames, channels[0].count - next)
    for c in channels.indices { for i in 0..<count { planes[c][i] = channels[c][next + i] } }
    next += count
    return count
  }

  func seek(toFrame frame: Int) throws(PlaybackError) {
    next = max(0, min(frame, channels[0].count))
  }
}
