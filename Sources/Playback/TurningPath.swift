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

  init(treatment: Treatment, filters: BinauralFilters, partition: Int, chunkFrames: Int) {
    if treatment.speakers.isEmpty && filters.direct == nil {
      precondition(treatment.order == filters.order, "filters of order \(treatment.order) wanted")
      let path = FieldPath(
        treatment: treatment, filters: filters, partition: partition, chunkFrames: chunkFrames)
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

  /// Whether its output follows from as much of the past as its tail is long.
  var isRepeatable: Bool { @_noLocks get { latencyFrames == 0 } }

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

  init(treatment: Treatment, filters: BinauralFilters, partition: Int, chunkFrames: Int) {
    field = MixMatrix(gains: treatment.field, inputs: treatment.inputs)
    decoder = FieldDecoder(filters: filters, partition: partition)
    bus = PlanarScratch(channels: treatment.field.count, frames: chunkFrames)
  }

  @_noLocks
  func gridPoints(forNext frames: Int) -> Range<Int> { decoder.gridPoints(forNext: frames) }

  var gridState: GridState {
    @_noLocks get { decoder.gridState }
    @_noLocks nonmutating set { decoder.gridState = newValue }
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
