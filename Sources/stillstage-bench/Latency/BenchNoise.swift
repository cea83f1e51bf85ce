// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CommandSupport
import Geometry
import Glibc
import HeadTracking
import Laboratory
import Playback
import Rendering
import SoundSources

/// Noise from the front that repeats forever, as a first-order soundfield or in the front centre
/// channel of a bed. All parts of the period differ, so a recorded part shows its position in the
/// period.
final class BenchNoise: SoundSource {
  static let periodFrames = 1 << 17
  static let soundfield = ChannelLayout.ambisonics(
    order: 1, convention: .ambiX, headLocked: false)
  let layout: ChannelLayout
  let sampleRate: Int
  let duration: Int? = nil
  let title: String? = "bench"
  let warnings: [String] = []
  private var position = 0
  private static let samples: [Float] = {
    var random = SystemRandomNumberGenerator()
    var smooth: Float = 0
    return (0..<periodFrames).map { _ in
      // Attenuate high frequencies, where the filters of sound cards differ.
      smooth += 0.5 * (Float.random(in: -0.25...0.25, using: &random) - smooth)
      return smooth
    }
  }()

  /// - Parameter layout: the first-order soundfield, or a bed whose third channel is the front
  ///   centre.
  init(sampleRate: Int, layout: ChannelLayout = soundfield) {
    (self.sampleRate, self.layout) = (sampleRate, layout)
  }

  static func sample(_ position: Int) -> Float { samples[position & (periodFrames - 1)] }

  func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    // The noise is in W and X, as a plane wave from the front, or in the front centre channel.
    let sounding = layout == Self.soundfield ? [0, 3] : [2]
    for channel in 0..<layout.channelCount {
      let isSounding = sounding.contains(channel)
      for i in 0..<frames { planes[channel][i] = isSounding ? Self.sample(position + i) : 0 }
    }
    position += frames
    return frames
  }

  func seek(toFrame frame: Int) throws(PlaybackError) { position = frame }

  /// Renders the noise for a head at `yaw`, in degrees. Returns the second period, because the
  /// filters and the delays are still filling in the first.
  static func rendered(
    yaw: Double, sampleRate: Int, layout: ChannelLayout = soundfield
  ) throws(CommandFailure) -> EarSound {
    try playing { () throws(PlaybackError) in
      let settings = RenderSettings()
      let pose = YawPitchRoll(yaw: yaw, pitch: 0, roll: 0).quaternion
      let renderer = try OfflineRenderer(
        source: BenchNoise(sampleRate: sampleRate, layout: layout), head: HeadTrajectory(pose),
        hrtf: HRTFChoice(path: nil, interrupt: Signals.interrupt), settings: settings,
        isLimited: false)
      var (left, right) = ([Float](), [Float]())
      while left.count < 2 * periodFrames {
        let count = try renderer.next()
        left += UnsafeBufferPointer(start: renderer.output[0], count: count)
        right += UnsafeBufferPointer(start: renderer.output[1], count: count)
      }
      let second = periodFrames..<2 * periodFrames
      return EarSound(left: Array(left[second]), right: Array(right[second]))
    }
  }

  /// One period of the noise before rendering, identical in both ears.
  static var mono: EarSound { EarSound(left: samples, right: samples) }
}
