// SPDX-License-Identifier: Apache-2.0

package import Ambisonics
package import AudioMix
package import Media
package import Rendering
private import SignalProcessing
private import Surround
private import Synchronization

/// A source that separates a soundfield into stems. Frame numbers remain those of the original
/// source.
///
/// `read` supplies the channels of the soundfield in ACN order and SN3D scale, a head-locked pair
/// if there is one, and then the planes of `StemPlanes`. After a seek, reading starts early enough
/// for the separation to settle, except in a stream.
package final class MixStemSource: SoundSource {
  /// The layout of the soundfield.
  package let field: ChannelLayout
  /// The number of channels of `field`, including a head-locked pair.
  package let fieldChannels: Int
  /// 2 if the soundfield has a head-locked pair, otherwise 0.
  package let headLocked: Int
  private let source: any SoundSource
  private var stage: MixStage
  private let enhancer: NeuralEnhancer?
  private let conversion: MixMatrix?
  private let raw: PlanarScratch
  private let input: PlanarScratch
  private let output: PlanarScratch
  private let active: Atomic<Bool>
  /// Whether the frames since the last seek are separated.
  private var separates: Bool
  /// The number of frames read from `source` since the last seek.
  private var taken = 0
  private var hasEnded = false
  /// The number of frames produced since the last seek, less the latency.
  private var made: Int
  /// The number of frames in `output`. The last of them is frame `made` - 1.
  private var held = 0
  /// The number of the next frame to return, counted like `made`.
  private var next = 0

  private static let blockFrames = 1024

  /// Creates a source of stems.
  ///
  /// - Parameters:
  ///   - source: a soundfield of order 1 or higher.
  ///   - settings: only the field of view and the files of the neural separator are used.
  ///   - separates: the initial value of `isActive`.
  /// - Throws: `PlaybackError.mixNeedsSoundfield` for any other source, or `.neuralSeparator` if
  ///   the neural separator cannot be used.
  package init(
    _ source: any SoundSource, settings: MixSettings, separates: Bool = true
  ) throws(PlaybackError) {
    let (order, pair) = try Self.order(of: source)
    self.source = source
    field = .ambisonics(order: order, convention: .ambiX, headLocked: pair)
    fieldChannels = field.channelCount
    headLocked = pair ? 2 : 0
    active = Atomic(separates)
    self.separates = separates
    conversion =
      source.layout == field
      ? nil
      : MixMatrix(
        gains: LayoutBus.gains(from: source.layout, to: field), inputs: source.layout.channelCount)
    enhancer = try settings.neural.map { (files) throws(PlaybackError) in
      try NeuralEnhancer(files, sampleRate: source.sampleRate)
    }
    stage = MixStage(
      channels: fieldChannels, sampleRate: Double(source.sampleRate),
      fieldOfView: settings.fieldOfView, capacity: Self.blockFrames, enhancer: enhancer)
    raw = PlanarScratch(
      channels: conversion == nil ? 0 : source.layout.channelCount, frames: Self.blockFrames)
    input = PlanarScratch(channels: fieldChannels, frames: Self.blockFrames)
    output = PlanarScratch(
      channels: fieldChannels + StemPlanes.count, frames: Self.blockFrames)
    made = separates ? -stage.latencyFrames : 0
  }

  private static func order(
    of source: any SoundSource
  ) throws(PlaybackError) -> (order: Int, hasPair: Bool) {
    guard case .ambisonics(let order, _, let pair) = source.layout, order >= 1 else {
      throw .mixNeedsSoundfield(source.layout)
    }
    return (order, pair)
  }

  /// Whether to separate the frames that are read after the next seek. If false, the stems are
  /// silent. Any thread may use this property.
  package var isActive: Bool {
    get { active.load(ordering: .relaxed) }
    set { active.store(newValue, ordering: .relaxed) }
  }

  /// An unknown layout with all planes that `read` supplies.
  package var layout: ChannelLayout { .unknown(channels: fieldChannels + StemPlanes.count) }
  package var sampleRate: Int { source.sampleRate }
  package var duration: Int? { source.duration }
  package var title: String? { source.title }
  package var warnings: [String] { source.warnings }
  package var statedLoudness: StatedLoudness? { source.statedLoudness }
  package var stream: (any StreamedSource)? { source.stream }
  package func contentLayout(atFrame frame: Int) -> ChannelLayout {
    source.contentLayout(atFrame: frame)
  }

  package func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    var done = 0
    while done < frames {
      // After the end of the source, return no more frames than the source supplied.
      let end = hasEnded ? min(made, taken) : made
      let count = min(end - next, frames - done)
      guard count > 0 else {
        if hasEnded, next >= taken { break }
        try advance()
        continue
      }
      let offset = held - (made - next)
      for c in 0..<output.channels {
        copyFrames(output.planes[c] + offset, planes[c] + done, count)
      }
      next += count
      done += count
    }
    return done
  }

  package func seek(toFrame frame: Int) throws(PlaybackError) {
    separates = isActive
    let target = max(0, frame)
    let preroll = separates && source.stream == nil ? stage.settlingFrames : 0
    let start =
      preroll == 0
      ? target : max(0, target - preroll) / stage.alignmentFrames * stage.alignmentFrames
    try source.seek(toFrame: start)
    stage.reset()
    (taken, hasEnded, held) = (0, false, 0)
    made = separates ? -stage.latencyFrames : 0
    next = target - start
  }

  /// Reads the next frames, and separates them if `separates` is true. After the end of the source,
  /// silence takes their place.
  private func advance() throws(PlaybackError) {
    var count = 0
    if !hasEnded {
      if conversion != nil {
        count = try source.read(into: raw.planes, frames: Self.blockFrames)
        conversion?.mix(UnsafePointer(raw.planes), into: input.planes, frames: count)
      } else {
        count = try source.read(into: input.planes, frames: Self.blockFrames)
      }
      hasEnded = count == 0
      taken += count
    }
    if hasEnded {
      count = Self.blockFrames
      for c in 0..<fieldChannels { clearFrames(input.planes[c], count) }
    }
    if separates {
      stage.process(UnsafePointer(input.planes), frames: count, into: output.planes)
      if let reason = enhancer?.failure { throw .neuralSeparator(reason) }
    } else {
      for c in 0..<fieldChannels { copyFrames(input.planes[c], output.planes[c], count) }
      for c in fieldChannels..<output.channels { clearFrames(output.planes[c], count) }
    }
    held = count
    made += count
  }
}
