// SPDX-License-Identifier: Apache-2.0

package import Ambisonics
private import AudioMix
internal import Rendering
private import SignalProcessing
private import SoundSources

/// The format of sound that is heard as it arrives.
package struct LiveSound: Sendable, Equatable {
  package let layout: ChannelLayout
  /// The sample rate [Hz].
  package let sampleRate: Int

  package init(layout: ChannelLayout, sampleRate: Int) {
    (self.layout, self.sampleRate) = (layout, sampleRate)
  }

  /// The layout that is rendered. If the meaning of the channels is unknown, a single channel is
  /// rendered as mono, and the first two of several channels are rendered as left and right.
  var heard: ChannelLayout {
    guard case .unknown(let channels) = layout else { return layout }
    return channels == 1 ? .mono : .stereo
  }
}

/// Selects the channels that are heard, and mixes a soundfield if mix settings are given.
///
/// ## Threading
/// Call `prepare` from one thread at a time. Any thread may use `mix`.
final class LivePreparation {
  private static let capacity = 1024

  private let channels: Int
  private let heard: Int
  private let mixer: StemMixer?
  private var stage: MixStage?
  private let enhancer: NeuralEnhancer?
  private let input: PlanarScratch
  private let stems: PlanarScratch
  private var output: [Float]

  /// - Parameter mix: the settings for mixing a soundfield of order 1 or higher in ACN order and
  ///   SN3D scale; nil for no mix. The settings have no effect on other layouts.
  /// - Throws: `neuralSeparator` if the neural separator cannot be used.
  init(_ sound: LiveSound, mix: MixSettings?) throws(PlaybackError) {
    channels = sound.layout.channelCount
    heard = sound.heard.channelCount
    var pair = 0
    var isField = false
    if case .ambisonics(let order, .ambiX, let headLocked) = sound.layout, order >= 1 {
      (isField, pair) = (true, headLocked ? 2 : 0)
    }
    let style = isField ? mix : nil
    enhancer = try style?.neural.map { (files) throws(PlaybackError) in
      try NeuralEnhancer(files, sampleRate: sound.sampleRate)
    }
    if let style {
      let rate = Double(sound.sampleRate)
      stage = MixStage(
        channels: heard, sampleRate: rate, fieldOfView: style.fieldOfView,
        capacity: Self.capacity, enhancer: enhancer)
      mixer = StemMixer(channels: heard, headLocked: pair, sampleRate: rate, settings: style)
    } else {
      stage = nil
      mixer = nil
    }
    let isMixed = style != nil
    input = PlanarScratch(channels: isMixed ? heard : 0, frames: Self.capacity)
    stems = PlanarScratch(
      channels: isMixed ? heard + StemPlanes.count : 0, frames: Self.capacity)
    output = [Float](repeating: 0, count: Self.capacity * heard)
  }

  /// The style and the amount of the mix; nil without a mix.
  var mix: (style: MixStyle, amount: Double)? {
    get { mixer?.value }
    set { if let newValue { mixer?.value = newValue } }
  }

  /// Passes the prepared frames to `body`, in one or more pieces.
  ///
  /// - Parameter samples: `frames` frames of interleaved samples.
  func prepare(
    _ samples: UnsafePointer<Float>, frames: Int,
    _ body: (_ samples: UnsafePointer<Float>, _ frames: Int) -> Void
  ) {
    guard channels != heard || mixer != nil else { return body(samples, frames) }
    var done = 0
    while done < frames {
      let count = min(Self.capacity, frames - done)
      let piece = samples + done * channels
      if mixer == nil { select(piece, count) } else { mix(piece, count) }
      output.withUnsafeBufferPointer { if let start = $0.baseAddress { body(start, count) } }
      done += count
    }
  }

  private func select(_ samples: UnsafePointer<Float>, _ count: Int) {
    for frame in 0..<count {
      for c in 0..<heard { output[frame * heard + c] = samples[frame * channels + c] }
    }
  }

  private func mix(_ samples: UnsafePointer<Float>, _ count: Int) {
    for c in 0..<heard {
      for frame in 0..<count { input.planes[c][frame] = samples[frame * channels + c] }
    }
    stage?.process(UnsafePointer(input.planes), frames: count, into: UnsafePointer(stems.planes))
    mixer?.process(
      UnsafePointer(stems.planes), into: UnsafePointer(stems.planes), frames: count)
    for frame in 0..<count {
      for c in 0..<heard { output[frame * heard + c] = stems.planes[c][frame] }
    }
  }
}
