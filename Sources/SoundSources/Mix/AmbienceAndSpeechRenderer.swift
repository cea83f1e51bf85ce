// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
private import AudioMix
public import HeadTracking
public import Rendering
private import SignalProcessing

/// Renders a mix as five channels: ambience as a first-order soundfield (W, Y, Z, X), and speech.
///
/// With a head trajectory, the ambience is rotated against the head.
public final class AmbienceAndSpeechRenderer: RenderedSound {
  public var layout: ChannelLayout { .unknown(channels: 5) }
  public var sampleRate: Int { ambience.sampleRate }
  public var frames: Int? { ambience.frames }
  public var mutedFrameCount: Int { ambience.mutedFrameCount }
  public var layoutChanges: [(seconds: Double, layout: ChannelLayout)] { [] }

  private let ambience: LayoutRenderer
  private let tap: Tap
  private let gain: Float
  private let planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>

  /// Creates a renderer.
  ///
  /// - Parameters:
  ///   - source: a soundfield of order 1 or higher.
  ///   - head: the motion of the head, timed from the start of the source; nil for no rotation.
  ///   - settings: the style of the mix must not be a stem, such as `cinematicForeground`. Without
  ///     a mix, the style is `standard`.
  /// - Throws: `PlaybackError.mixNeedsSoundfield` for any other source, `.neuralSeparator` if the
  ///   neural separator cannot be used, or any error from the source.
  public init(
    source: any SoundSource, head: HeadTrajectory?, settings: RenderSettings
  ) throws(PlaybackError) {
    try requireSoundfield(source)
    let mixed = try MixedSource(
      preparedUnmixed(source, settings: settings),
      settings: settings.mix ?? MixSettings(style: .standard), target: .ambienceAndSpeech)
    tap = Tap(mixed, frames: settings.blockFrames)
    ambience = LayoutRenderer(
      prepared: tap, isSpatial: true, target: .firstOrder, head: head, settings: settings)
    gain = linearGain(decibels: settings.gainDecibels)
    planes = .allocate(capacity: 5)
    planes.initialize(repeating: tap.speech, count: 5)
  }

  deinit { planes.deallocate() }

  public var output: UnsafePointer<UnsafeMutablePointer<Float>> { UnsafePointer(planes) }

  public func next() throws(PlaybackError) -> Int {
    let count = try ambience.next()
    for c in 0..<4 { planes[c] = ambience.output[c] }
    if gain != 1 { for i in 0..<count { tap.speech[i] *= gain } }
    return count
  }
}

/// Supplies the first four channels of a source and keeps the fifth.
private final class Tap: SoundSource {
  private let source: MixedSource
  private let block: PlanarScratch
  /// The fifth channel of the frames that the latest `read` supplied.
  var speech: UnsafeMutablePointer<Float> { block.planes[4] }

  init(_ source: MixedSource, frames: Int) {
    self.source = source
    block = PlanarScratch(channels: 5, frames: frames)
  }

  let layout = ChannelLayout.ambisonics(order: 1, convention: .ambiX, headLocked: false)
  var sampleRate: Int { source.sampleRate }
  var duration: Int? { source.duration }
  var title: String? { source.title }
  var warnings: [String] { source.warnings }

  func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    let count = try source.read(into: block.planes, frames: min(frames, block.frames))
    for c in 0..<4 { copyFrames(block.planes[c], planes[c], count) }
    return count
  }

  func seek(toFrame frame: Int) throws(PlaybackError) { try source.seek(toFrame: frame) }
}
