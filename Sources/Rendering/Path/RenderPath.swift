// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Binaural
internal import Surround

/// The decoder that a treatment and a set of filters ask for: what turns with the head, to the
/// ears.
enum RenderPath: ~Copyable {
  case linear(BinauralDecoder)
  case parametric(ParametricDecoder)

  /// - Parameter keptFrames: of the stream, at which another path can begin again.
  init(treatment: Treatment, filters: BinauralFilters, partition: Int, keptFrames: Int = 0) {
    let hasOrder = filters.direct != nil || treatment.order == filters.order
    precondition(hasOrder, "filters of order \(treatment.order) wanted")
    if !treatment.speakers.isEmpty || filters.direct != nil {
      self = .linear(
        BinauralDecoder(
          filters: filters, speakers: treatment.speakers.map(\.direction), partition: partition))
    } else if let waves = filters.planeWaves {
      self = .parametric(
        ParametricDecoder(filters: filters, waves: waves, keptFrames: keptFrames))
    } else {
      self = .linear(BinauralDecoder(filters: filters, partition: partition))
    }
  }

  /// Frames by which the decoder delays everything.
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

  /// Frames from a pose to the first output that knows it; it begins again only at multiples of
  /// this then. 0 where a pose is heard at once.
  var hopFrames: Int {
    switch self {
    case .linear: 0
    case .parametric(let decoder): decoder.hopFrames
    }
  }

  @_noLocks
  func reset() {
    switch self {
    case .linear(let decoder): decoder.reset()
    case .parametric(let decoder): decoder.reset()
    }
  }

  /// Begins again at a frame where another path, made with the same filters, has been.
  @_noLocks
  func beginAgain(at frame: Int, like other: borrowing RenderPath) {
    reset()
    guard let memory = other.memory(toBeginAt: frame) else { return }
    switch self {
    case .linear: break
    case .parametric(let decoder): decoder.beginAgain(at: frame, memory: memory)
    }
  }

  @_noLocks
  private func memory(toBeginAt frame: Int) -> UnsafePointer<SIMD4<Float>>? {
    switch self {
    case .linear: nil
    case .parametric(let decoder): decoder.memory(toBeginAt: frame)
    }
  }

  @_noLocks
  func process(
    _ input: UnsafePointer<UnsafeMutablePointer<Float>>, poses: GridPoses,
    into ears: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) {
    switch self {
    case .linear(let decoder):
      decoder.process(input: input, frames: frames, poses: poses, left: ears[0], right: ears[1])
    case .parametric(let decoder):
      decoder.process(input: input, frames: frames, poses: poses, left: ears[0], right: ears[1])
    }
  }
}
