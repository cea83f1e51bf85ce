// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Binaural
internal import Geometry

/// The decoder that a set of filters asks for.
enum FieldDecoder: ~Copyable {
  case linear(BinauralDecoder)
  case parametric(ParametricDecoder)

  /// - Parameter keptFrames: of the stream, at which another decoder can begin again.
  init(filters: BinauralFilters, partition: Int, keptFrames: Int) {
    if let waves = filters.planeWaves {
      self = .parametric(
        ParametricDecoder(filters: filters, waves: waves, keptFrames: keptFrames))
    } else {
      self = .linear(BinauralDecoder(filters: filters, partition: partition))
    }
  }

  /// Frames by which the output is later than the filters make it.
  var latencyFrames: Int {
    switch self {
    case .linear: 0
    case .parametric(let decoder): decoder.latencyFrames
    }
  }

  /// Frames that the output goes on after the input and the latency have ended.
  var tailFrames: Int {
    switch self {
    case .linear(let decoder): decoder.tailFrames
    case .parametric(let decoder): decoder.tailFrames
    }
  }

  /// Frames from a pose to the first output that knows it, beyond which it begins again only at
  /// multiples of this; 0 where at any.
  var hopFrames: Int {
    @_noLocks get {
      switch self {
      case .linear: 0
      case .parametric(let decoder): decoder.hopFrames
      }
    }
  }

  /// What another one needs to begin again at a frame beside the sound; nil where nothing.
  @_noLocks
  func memory(toBeginAt frame: Int) -> UnsafePointer<SIMD4<Float>>? {
    switch self {
    case .linear: nil
    case .parametric(let decoder): decoder.memory(toBeginAt: frame)
    }
  }

  /// Begins again where another one has been.
  @_noLocks
  func beginAgain(at frame: Int, memory: UnsafePointer<SIMD4<Float>>?) {
    reset()
    guard let memory else { return }
    switch self {
    case .linear: return
    case .parametric(let decoder): decoder.beginAgain(at: frame, memory: memory)
    }
  }

  @_noLocks
  func gridPoints(forNext frames: Int) -> Range<Int> {
    switch self {
    case .linear(let decoder): decoder.gridPoints(forNext: frames)
    case .parametric(let decoder): decoder.gridPoints(forNext: frames)
    }
  }

  /// Where it stands on the grid of head poses; set, it goes on from there.
  var gridState: GridState {
    @_noLocks get {
      switch self {
      case .linear(let decoder): decoder.gridState
      case .parametric(let decoder): decoder.gridState
      }
    }
    @_noLocks nonmutating set {
      switch self {
      case .linear(let decoder): decoder.gridState = newValue
      case .parametric(let decoder): decoder.gridState = newValue
      }
    }
  }

  @_noLocks
  func reset() {
    switch self {
    case .linear(let decoder): decoder.reset()
    case .parametric(let decoder): decoder.reset()
    }
  }

  @_noLocks
  func process(
    input: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int,
    poses: UnsafePointer<Quaternion>, left: UnsafeMutablePointer<Float>,
    right: UnsafeMutablePointer<Float>
  ) {
    switch self {
    case .linear(let decoder):
      decoder.process(input: input, frames: frames, poses: poses, left: left, right: right)
    case .parametric(let decoder):
      decoder.process(input: input, frames: frames, poses: poses, left: left, right: right)
    }
  }
}
