// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Binaural
internal import Geometry
internal import SignalProcessing
internal import Surround

/// From a source's channels to the ears through the soundfield; with what does not turn beside it.
struct SpatialPath: ~Copyable {
  let tailFrames: Int
  /// Frames by which the decoder delays everything here.
  let latencyFrames: Int
  private let turning: TurningPath
  private let headLocked: MixMatrix
  private let lowFrequency: MixMatrix
  private let lowPass: LowPass
  private let delay: StereoDelay
  private let still: PlanarScratch
  private let effects: PlanarScratch
  /// What turns, a second time, for what is rendered again.
  private let again: UnsafeMutablePointer<TurningPath>?

  /// - Parameter isRepeatable: whether what turns can be rendered again.
  init(
    treatment: Treatment, filters: BinauralFilters, partition: Int, chunkFrames: Int,
    isRepeatable: Bool = false
  ) {
    let (inputs, rate) = (treatment.inputs, filters.sampleRate)
    turning = TurningPath(
      treatment: treatment, filters: filters, partition: partition, chunkFrames: chunkFrames)
    again = isRepeatable ? .allocate(capacity: 1) : nil
    again?.initialize(
      to: TurningPath(
        treatment: treatment, filters: filters, partition: 256, chunkFrames: chunkFrames))
    headLocked = MixMatrix(gains: treatment.headLocked, inputs: inputs)
    lowFrequency = MixMatrix(gains: treatment.lowFrequency, inputs: inputs)
    latencyFrames = turning.latencyFrames
    lowPass = LowPass(corner: Treatment.lowFrequencyCorner, sampleRate: rate)
    delay = StereoDelay(
      seconds: BinauralFilters.delaySeconds + Double(latencyFrames) / rate, sampleRate: rate)
    let effectsTail =
      lowFrequency.isSilent ? 0 : delay.frames - latencyFrames + lowPass.tailFrames
    tailFrames = max(turning.tailFrames, effectsTail)
    still = PlanarScratch(channels: 2, frames: chunkFrames)
    effects = PlanarScratch(channels: 2, frames: chunkFrames)
  }

  deinit {
    again?.deinitialize(count: 1)
    again?.deallocate()
  }

  @_noLocks
  func gridPoints(forNext frames: Int) -> Range<Int> { turning.gridPoints(forNext: frames) }

  /// Where it stands on the grid of head poses; set, it goes on from there.
  var gridState: GridState {
    @_noLocks get { turning.gridState }
    @_noLocks nonmutating set { turning.gridState = newValue }
  }

  @_noLocks
  func reset() {
    turning.reset()
    lowPass.reset()
    delay.reset()
  }

  /// - Parameters:
  ///   - source: inputs x frames.
  ///   - poses: for `gridPoints(forNext: frames)`.
  ///   - ears: 2 x frames, overwritten.
  ///   - turned: receives 2 x frames, what turns alone; nil where it is not wanted.
  ///   - frames: at most the scratch's.
  @_noLocks
  func process(
    _ source: UnsafePointer<UnsafeMutablePointer<Float>>, poses: UnsafePointer<Quaternion>,
    into ears: UnsafePointer<UnsafeMutablePointer<Float>>,
    turned: UnsafePointer<UnsafeMutablePointer<Float>>?, frames: Int
  ) {
    turning.process(source, poses: poses, into: ears, frames: frames)
    if let turned {
      copyFrames(ears[0], turned[0], frames)
      copyFrames(ears[1], turned[1], frames)
    }
    let hasEffects = !lowFrequency.isSilent
    if !hasEffects { if headLocked.isSilent { return } }
    headLocked.mix(source, into: still.planes, frames: frames)
    if hasEffects {
      lowFrequency.mix(source, into: effects.planes, frames: frames)
      for i in 0..<frames {
        // Both ears get the same effects.
        let effect = lowPass.process(effects.planes[0][i])
        still.planes[0][i] += effect
        still.planes[1][i] += effect
      }
    }
    delay.process(still.planes[0], still.planes[1], frames: frames)
    addFrames(still.planes[0], to: ears[0], frames)
    addFrames(still.planes[1], to: ears[1], frames)
  }

  /// Frames of the past that what is rendered again must hear first; nil where it cannot be.
  var runUpFrames: Int? {
    @_noLocks get {
      guard let again else { return nil }
      return again.pointee.isRepeatable ? again.pointee.tailFrames : nil
    }
  }

  /// What turns begins again at a frame of the stream, a multiple of the grid's, with nothing before.
  @_noLocks
  func beginAgain(at frame: Int, pose: Quaternion) {
    guard let again else { return }
    again.pointee.reset()
    var grid = GridState()
    grid.position = frame
    grid.nextPoint = frame / SoundfieldRotator.gridFrames + 1
    grid.cellStart = pose
    grid.cellEnd = pose
    again.pointee.gridState = grid
  }

  /// The grid points that the next frames need which are rendered again.
  @_noLocks
  func gridPointsAgain(forNext frames: Int) -> Range<Int> {
    again?.pointee.gridPoints(forNext: frames) ?? 0..<0
  }

  /// As `process`, of what turns alone.
  @_noLocks
  func processAgain(
    _ source: UnsafePointer<UnsafeMutablePointer<Float>>, poses: UnsafePointer<Quaternion>,
    into ears: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) {
    guard let again else { return }
    again.pointee.process(source, poses: poses, into: ears, frames: frames)
  }
}

/// From a source's channels to the ears as plain stereo, as late as the spatial path.
struct PlainPath: ~Copyable {
  let tailFrames: Int
  private let matrix: MixMatrix
  private let delay: StereoDelay

  /// - Parameters:
  ///   - treatment: of the layout, as plain stereo.
  ///   - sampleRate: Hz.
  ///   - latencyFrames: of the spatial path.
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
