// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
private import Geometry
public import HeadTracking
internal import SignalProcessing

/// Sound that is rendered block by block.
public protocol RenderedSound: AnyObject {
  var layout: ChannelLayout { get }
  /// The sample rate, in Hz.
  var sampleRate: Int { get }
  /// The total number of frames; nil if unknown.
  var frames: Int? { get }
  /// The number of frames muted so far because of invalid samples.
  var mutedFrameCount: Int { get }
  /// The changes of the content's layout so far, with their times in seconds; always empty if the
  /// renderer does not collect them.
  var layoutChanges: [(seconds: Double, layout: ChannelLayout)] { get }
  /// The frames from the last call of `next`, channels x frames; valid until the next call.
  var output: UnsafePointer<UnsafeMutablePointer<Float>> { get }
  /// Renders the next frames, at most one block, into `output`.
  ///
  /// - Returns: the number of frames; 0 after the end.
  /// - Throws: the errors of the source.
  func next() throws(PlaybackError) -> Int
}

/// Renders a source to stereo for a head trajectory, block by block.
public final class OfflineRenderer: RenderedSound {
  public var layout: ChannelLayout { .stereo }
  public var sampleRate: Int { source.sampleRate }
  public var mutedFrameCount: Int { renderer.mutedFrameCount }
  /// The number of output frames, including the tail; nil if the length of the source is unknown.
  public var frames: Int? { source.duration.map { $0 + renderer.tailFrames } }
  public let renderer: Renderer

  /// The changes of the content's layout so far, with their times in seconds.
  public private(set) var layoutChanges: [(seconds: Double, layout: ChannelLayout)] = []
  private var heardLayout: ChannelLayout

  private let source: any SoundSource
  private let head: HeadTrajectory
  private let settings: RenderSettings
  /// The number of source frames rendered so far.
  private var position = 0
  private let blockFrames: Int
  private let input: PlanarScratch
  private let ears: PlanarScratch
  /// Pointers to the part of each channel of `input` that is rendered next.
  private let part: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
  private var poses: [Quaternion] = []
  /// The number of output frames still to be dropped at the start.
  private var toDrop: Int
  /// The number of frames still to be rendered after the end of the source.
  private var toFinish: Int

  /// Creates a renderer for a prepared source.
  ///
  /// - Parameters:
  ///   - source: a source that needs no further preparation; an upmix, for example, is already
  ///     applied.
  ///   - head: `headToWorld` as a function of the time in the source.
  ///   - hrtf: the HRTF set.
  ///   - settings: how to render.
  ///   - isLimited: whether the true peak is limited to -1 dBTP.
  /// - Throws: the errors of `HRTFChoice.filters(for:settings:sampleRate:)`.
  public init(
    prepared source: any SoundSource, head: HeadTrajectory, hrtf: HRTFChoice,
    settings: RenderSettings, isLimited: Bool
  ) throws(PlaybackError) {
    let filters = try hrtf.filters(
      for: source.layout, settings: settings, sampleRate: Double(source.sampleRate))
    self.source = source
    self.head = head
    self.settings = settings
    heardLayout = source.contentLayout(atFrame: 0)
    blockFrames = settings.blockFrames
    renderer = Renderer(
      layout: source.layout, filters: filters, busOrder: settings.busOrder,
      blockFrames: settings.blockFrames,
      mode: Self.mode(of: source, at: 0, settings),
      finish: .init(
        gain: linearGain(decibels: settings.gainDecibels), isRamped: false, isLimited: isLimited))
    input = PlanarScratch(channels: source.layout.channelCount, frames: blockFrames)
    ears = PlanarScratch(channels: 2, frames: blockFrames)
    part = .allocate(capacity: source.layout.channelCount)
    part.initialize(from: input.planes, count: source.layout.channelCount)
    toDrop = renderer.latencyFrames
    toFinish = renderer.tailFrames + renderer.latencyFrames
  }

  deinit { part.deallocate() }

  /// Renders the next frames, at most one block, into `output`.
  ///
  /// - Returns: the number of frames; 0 after the tail.
  /// - Throws: the errors of the source.
  public func next() throws(PlaybackError) -> Int {
    while true {
      var count = try source.read(into: input.planes, frames: blockFrames)
      let hasEnded = count == 0
      if hasEnded {
        guard toFinish > 0 else { return 0 }
        count = min(blockFrames, toFinish)
        toFinish -= count
      }
      if hasEnded {
        render(nil, count, at: 0)
      } else {
        renderRead(count)
      }
      let kept = drop(from: count)
      if kept > 0 { return kept }
    }
  }

  /// The left and right channels from the last call of `next`; valid until the next call.
  public var output: UnsafePointer<UnsafeMutablePointer<Float>> { UnsafePointer(ears.planes) }

  private static func mode(
    of source: any SoundSource, at frame: Int, _ settings: RenderSettings
  ) -> Renderer.Mode {
    let isSpatial =
      !source.isBinaural && settings.spatialization.includes(source.contentLayout(atFrame: frame))
    return isSpatial ? .spatial : .plain
  }

  /// Renders the first `count` frames of `input`, and collects the changes of the content's layout.
  private func renderRead(_ count: Int) {
    var done = 0
    while done < count {
      let layout = source.contentLayout(atFrame: position)
      var next = done + 1
      let isSame = source.contentLayout(atFrame: position + count - done - 1) == layout
      if isSame { next = count }
      while next < count, source.contentLayout(atFrame: position + next - done) == layout {
        next += 1
      }
      if layout != heardLayout {
        layoutChanges.append((Double(position) / renderer.sampleRate, layout))
        heardLayout = layout
      }
      let mode = Self.mode(of: source, at: position, settings)
      if mode != renderer.mode { renderer.mode = mode }
      for c in 0..<source.layout.channelCount { part[c] = input.planes[c] + done }
      render(UnsafePointer(part), next - done, at: done)
      position += next - done
      done = next
    }
  }

  private func render(
    _ planes: UnsafePointer<UnsafeMutablePointer<Float>>?, _ count: Int, at offset: Int
  ) {
    poses.removeAll(keepingCapacity: true)
    for point in renderer.gridPoints(forNext: count) {
      let seconds = Double(point * Renderer.gridFrames) / renderer.sampleRate
      poses.append(head.pose(atSeconds: seconds))
    }
    renderer.process(
      input: planes, frames: count, poses: poses, left: ears.planes[0] + offset,
      right: ears.planes[1] + offset)
  }

  /// Compensates for the latency: drops the rendered frames that belong to the first
  /// `renderer.latencyFrames` frames of the output.
  ///
  /// - Returns: the number of frames that remain of the `count` rendered frames.
  private func drop(from count: Int) -> Int {
    let dropped = min(toDrop, count)
    toDrop -= dropped
    if dropped > 0 {
      for c in 0..<2 { copyFrames(ears.planes[c] + dropped, ears.planes[c], count - dropped) }
    }
    return count - dropped
  }
}
