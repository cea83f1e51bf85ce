// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Binaural
internal import SignalProcessing
internal import Surround

/// Renders the channels of a source to the ears. The part that is rotated against the head passes
/// through a decoder. The part that is not rotated is added after the decoder.
struct SpatialPath: ~Copyable {
  let tailFrames: Int
  /// The delay of the decoder in addition to `BinauralFilters.delaySeconds`, in frames.
  let latencyFrames: Int
  /// The memory of the filters for the rotated part, in frames.
  let memoryFrames: Int
  /// The number of frames from a pose to the first output that depends on it.
  let hopFrames: Int
  /// The gains from the channels of the source to the decoder's inputs.
  private let entry: MixMatrix
  private let bus: PlanarScratch
  /// The decoder for the rotated part. A separate allocation saves compile time, because the
  /// compiler checks the ownership of stored values in each function.
  private let turning: UnsafeMutablePointer<RenderPath>
  private let headLocked: MixMatrix
  private let lowFrequency: MixMatrix
  private let lowPass: LowPass
  private let delay: StereoDelay
  private let still: PlanarScratch
  private let effects: PlanarScratch
  /// The decoder for rewriting; nil if nothing is rewritten.
  private let again: UnsafeMutablePointer<RenderPath>?
  /// The headphone equalisers for the first rendering of the rotated part, and for rewriting. They
  /// do nothing if the decoder is linear, because its filters include the equaliser.
  private let turnedFilter: StereoFilter
  private let againFilter: StereoFilter
  /// The headphone equaliser for the part that is not rotated.
  private let stillFilter: StereoFilter
  /// The headphone equaliser for plain stereo.
  private let plainFilter: StereoFilter

  /// Creates a path for the treatment of a layout.
  ///
  /// - Parameters:
  ///   - filters: filters of the treatment's order, or direct filters.
  ///   - partition: see `BinauralDecoder`.
  ///   - chunkFrames: the largest number of frames per call.
  ///   - keptFrames: how far back, in frames, `processAgain` can begin; 0 for no rewriting.
  init(
    treatment: Treatment, filters: BinauralFilters, partition: Int, chunkFrames: Int,
    keptFrames: Int
  ) {
    let (inputs, rate) = (treatment.inputs, filters.sampleRate)
    let gains = treatment.speakers.isEmpty ? treatment.field : Self.picking(treatment)
    entry = MixMatrix(gains: gains, inputs: inputs)
    bus = PlanarScratch(channels: gains.count, frames: chunkFrames)
    turning = .allocate(capacity: 1)
    turning.initialize(
      to: RenderPath(
        treatment: treatment, filters: filters, partition: partition, keptFrames: keptFrames))
    // The parametric decoder's transforms are too short for the response of an equaliser.
    let separate = filters.planeWaves == nil ? nil : filters.equaliser
    turnedFilter = StereoFilter(separate, partition: partition)
    memoryFrames = turning.pointee.tailFrames + turnedFilter.tailFrames
    hopFrames = turning.pointee.hopFrames
    again = keptFrames > 0 ? .allocate(capacity: 1) : nil
    again?.initialize(to: RenderPath(treatment: treatment, filters: filters, partition: 256))
    againFilter = StereoFilter(keptFrames > 0 ? separate : nil, partition: 256)
    headLocked = MixMatrix(gains: treatment.headLocked, inputs: inputs)
    lowFrequency = MixMatrix(gains: treatment.lowFrequency, inputs: inputs)
    latencyFrames = turning.pointee.latencyFrames
    lowPass = LowPass(corner: Treatment.lowFrequencyCorner, sampleRate: rate)
    delay = StereoDelay(
      seconds: BinauralFilters.delaySeconds + Double(latencyFrames) / rate, sampleRate: rate)
    let effectsTail =
      lowFrequency.isSilent ? 0 : delay.frames - latencyFrames + lowPass.tailFrames
    stillFilter = StereoFilter(filters.equaliser, partition: partition)
    plainFilter = StereoFilter(filters.equaliser, partition: partition)
    tailFrames = max(
      memoryFrames, max(effectsTail, delay.frames - latencyFrames) + plainFilter.tailFrames)
    still = PlanarScratch(channels: 2, frames: chunkFrames)
    effects = PlanarScratch(channels: 2, frames: chunkFrames)
  }

  deinit {
    turning.deinitialize(count: 1)
    turning.deallocate()
    again?.deinitialize(count: 1)
    again?.deallocate()
  }

  /// Returns the matrix, loudspeakers x inputs, that selects the loudspeaker channels.
  private static func picking(_ treatment: Treatment) -> [[Double]] {
    treatment.speakers.map { speaker in
      (0..<treatment.inputs).map { $0 == speaker.input ? 1 : 0 }
    }
  }

  @_noLocks
  func reset() {
    turning.pointee.reset()
    lowPass.reset()
    delay.reset()
    turnedFilter.reset()
    stillFilter.reset()
    plainFilter.reset()
  }

  @_noLocks
  func equalisePlain(_ planes: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int) {
    plainFilter.process(planes[0], planes[1], frames: frames)
  }

  @_noLocks
  func resetPlain() { plainFilter.reset() }

  /// Renders the next frames to the ears.
  ///
  /// - Parameters:
  ///   - source: inputs x frames.
  ///   - ears: 2 x frames, overwritten.
  ///   - turned: receives the rotated part, 2 x frames; nil if not needed.
  ///   - frames: at most the initialiser's `chunkFrames`.
  @_noLocks
  func process(
    _ source: UnsafePointer<UnsafeMutablePointer<Float>>, poses: GridPoses,
    into ears: UnsafePointer<UnsafeMutablePointer<Float>>,
    turned: UnsafePointer<UnsafeMutablePointer<Float>>?, frames: Int
  ) {
    entry.mix(source, into: bus.planes, frames: frames)
    turning.pointee.process(bus.planes, poses: poses, into: ears, frames: frames)
    turnedFilter.process(ears[0], ears[1], frames: frames)
    if let turned {
      copyFrames(ears[0], turned[0], frames)
      copyFrames(ears[1], turned[1], frames)
    }
    addStill(source, to: ears, frames)
  }

  /// Adds the part that is not rotated against the head, with the decoder's delay.
  @_noLocks
  private func addStill(
    _ source: UnsafePointer<UnsafeMutablePointer<Float>>,
    to ears: UnsafePointer<UnsafeMutablePointer<Float>>, _ frames: Int
  ) {
    let hasEffects = !lowFrequency.isSilent
    if !hasEffects { if headLocked.isSilent { return } }
    headLocked.mix(source, into: still.planes, frames: frames)
    if hasEffects {
      lowFrequency.mix(source, into: effects.planes, frames: frames)
      for i in 0..<frames {
        let effect = lowPass.process(effects.planes[0][i])
        still.planes[0][i] += effect
        still.planes[1][i] += effect
      }
    }
    delay.process(still.planes[0], still.planes[1], frames: frames)
    stillFilter.process(still.planes[0], still.planes[1], frames: frames)
    addFrames(still.planes[0], to: ears[0], frames)
    addFrames(still.planes[1], to: ears[1], frames)
  }

  /// Prepares `processAgain` to begin at a frame, which must be a grid point. If `hopFrames` is not
  /// 0, the frame must also be a multiple of `hopFrames`.
  @_noLocks
  func beginAgain(at frame: Int) {
    again?.pointee.beginAgain(at: frame, like: turning.pointee)
    againFilter.reset()
  }

  /// Renders the rotated part again into `ears`, 2 x frames.
  @_noLocks
  func processAgain(
    _ source: UnsafePointer<UnsafeMutablePointer<Float>>, poses: GridPoses,
    into ears: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) {
    entry.mix(source, into: bus.planes, frames: frames)
    again?.pointee.process(bus.planes, poses: poses, into: ears, frames: frames)
    againFilter.process(ears[0], ears[1], frames: frames)
  }
}

/// Mixes a source to plain stereo with the delay of the spatial path.
struct PlainPath: ~Copyable {
  let tailFrames: Int
  private let matrix: MixMatrix
  private let delay: StereoDelay

  init(treatment: Treatment, sampleRate: Double, latencyFrames: Int) {
    matrix = MixMatrix(gains: treatment.headLocked, inputs: treatment.inputs)
    delay = StereoDelay(
      seconds: BinauralFilters.delaySeconds + Double(latencyFrames) / sampleRate,
      sampleRate: sampleRate)
    tailFrames = delay.frames - latencyFrames
  }

  @_noLocks
  func reset() { delay.reset() }

  @_noLocks
  func process(
    _ source: UnsafePointer<UnsafeMutablePointer<Float>>,
    into ears: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) {
    matrix.mix(source, into: ears, frames: frames)
    delay.process(ears[0], ears[1], frames: frames)
  }
}
