// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Binaural
internal import Geometry
internal import Surround

/// What turns with the head, on its way to the ears: a soundfield, or loudspeakers.
struct TurningPath: ~Copyable {
  let tailFrames: Int
  /// Frames by which the decoder delays everything.
  let latencyFrames: Int
  private let way: Way

  private enum Way: ~Copyable {
    case field(FieldPath)
    case speakers(SpeakerPath)
  }

  /// - Parameter keptFrames: of the stream, at which another path can begin again.
  init(
    treatment: Treatment, filters: BinauralFilters, partition: Int, chunkFrames: Int,
    keptFrames: Int = 0
  ) {
    if treatment.speakers.isEmpty && filters.direct == nil {
      precondition(treatment.order == filters.order, "filters of order \(treatment.order) wanted")
      let path = FieldPath(
        treatment: treatment, filters: filters, partition: partition, chunkFrames: chunkFrames,
        keptFrames: keptFrames)
      tailFrames = path.tailFrames
      latencyFrames = path.latencyFrames
      way = .field(path)
    } else {
      let hasOrder = filters.direct != nil || treatment.order == filters.order
      precondition(hasOrder, "filters of order \(treatment.order) wanted")
      let path = SpeakerPath(
        speakers: treatment.speakers, filters: filters, partition: partition)
      tailFrames = path.tailFrames
      latencyFrames = 0
      way = .speakers(path)
    }
  }

  @_noLocks
  func gridPoints(forNext frames: Int) -> Range<Int> {
    switch way {
    case .field(let path): path.gridPoints(forNext: frames)
    case .speakers(let path): path.gridPoints(forNext: frames)
    }
  }

  /// Frames from a pose to the first output that knows it; it begins again only at multiples of this
  /// then. 0 where a pose is heard at once.
  var hopFrames: Int {
    @_noLocks get {
      switch way {
      case .field(let path): path.hopFrames
      case .speakers: 0
      }
    }
  }

  /// What another path needs to begin again at a frame beside the sound; nil where nothing.
  @_noLocks
  func memory(toBeginAt frame: Int) -> UnsafePointer<SIMD4<Float>>? {
    switch way {
    case .field(let path): path.memory(toBeginAt: frame)
    case .speakers: nil
    }
  }

  /// Begins again where another path has been.
  @_noLocks
  func beginAgain(at frame: Int, memory: UnsafePointer<SIMD4<Float>>?) {
    switch way {
    case .field(let path): path.beginAgain(at: frame, memory: memory)
    case .speakers(let path): path.reset()
    }
  }

  /// Where it stands on the grid of head poses; set, it goes on from there.
  var gridState: GridState {
    @_noLocks get {
      switch way {
      case .field(let path): path.gridState
      case .speakers(let path): path.gridState
      }
    }
    @_noLocks nonmutating set {
      switch way {
      case .field(let path): path.gridState = newValue
      case .speakers(let path): path.gridState = newValue
      }
    }
  }

  @_noLocks
  func reset() {
    switch way {
    case .field(let path): path.reset()
    case .speakers(let path): path.reset()
    }
  }

  @_noLocks
  func process(
    _ source: UnsafePointer<UnsafeMutablePointer<Float>>, poses: UnsafePointer<Quaternion>,
    into ears: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) {
    switch way {
    case .field(let path): path.process(source, poses: poses, into: ears, frames: frames)
    case .speakers(let path): path.process(source, poses: poses, into: ears, frames: frames)
    }
  }
}

/// From a soundfield's channels to the ears.
struct FieldPath: ~Copyable {
  var tailFrames: Int { decoder.tailFrames }
  var latencyFrames: Int { decoder.latencyFrames }
  private let field: MixMatrix
  private let decoder: FieldDecoder
  private let bus: PlanarScratch

  init(
    treatment: Treatment, filters: BinauralFilters, partition: Int, chunkFrames: Int,
    keptFrames: Int
  ) {
    field = MixMatrix(gains: treatment.field, inputs: treatment.inputs)
    decoder = FieldDecoder(filters: filters, partition: partition, keptFrames: keptFrames)
    bus = PlanarScratch(channels: treatment.field.count, frames: chunkFrames)
  }

  @_noLocks
  func gridPoints(forNext frames: Int) -> Range<Int> { decoder.gridPoints(forNext: frames) }

  var gridState: GridState {
    @_noLocks get { decoder.gridState }
    @_noLocks nonmutating set { decoder.gridState = newValue }
  }

  var hopFrames: Int { @_noLocks get { decoder.hopFrames } }

  @_noLocks
  func memory(toBeginAt frame: Int) -> UnsafePointer<SIMD4<Float>>? {
    decoder.memory(toBeginAt: frame)
  }

  @_noLocks
  func beginAgain(at frame: Int, memory: UnsafePointer<SIMD4<Float>>?) {
    decoder.beginAgain(at: frame, memory: memory)
  }

  @_noLocks
  func reset() { decoder.reset() }

  @_noLocks
  func process(
    _ source: UnsafePointer<UnsafeMutablePointer<Float>>, poses: UnsafePointer<Quaternion>,
    into ears: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) {
    field.mix(source, into: bus.planes, frames: frames)
    decoder.process(
      input: bus.planes, frames: frames, poses: poses, left: ears[0], right: ears[1])
  }
}
