// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Binaural
internal import Surround

/// The decoder for the part of the sound that is rotated against the head.
enum RenderPath: ~Copyable {
  case linear(BinauralDecoder)
  case parametric(ParametricDecoder)

  /// Creates the decoder for a treatment and its filters.
  ///
  /// - Parameters:
  ///   - treatment: the gains of the source's channels. The decoder's inputs are the loudspeakers
  ///     of the treatment. Without loudspeakers, the inputs are the channels of the soundfield.
  ///   - filters: filters of the treatment's order, or direct filters.
  ///   - partition: see `BinauralDecoder`.
  ///   - keptFrames: how far back, in frames, another parametric decoder can resume with
  ///     `beginAgain`. Linear decoders have no such limit.
  init(treatment: Treatment, filters: BinauralFilters, partition: Int, keptFrames: Int = 0) {
    let hasOrder = filters.direct != nil || treatment.order == filters.order
    precondition(hasOrder, "the filters must be of order \(treatment.order)")
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

  /// The delay of the decoder in addition to `BinauralFilters.delaySeconds`, in frames.
  var latencyFrames: Int {
    switch self {
    case .linear: 0
    case .parametric(let decoder): decoder.latencyFrames
    }
  }

  /// The number of output frames after the end of the input, not counting the latency.
  var tailFrames: Int {
    switch self {
    case .linear(let decoder): decoder.tailFrames
    case .parametric(let decoder): decoder.tailFrames
    }
  }

  /// The number of frames from a pose to the first output that depends on it; 0 if a pose takes
  /// effect at once.
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

  /// Resets the decoder. If both decoders are parametric and `other` keeps past covariances, this
  /// decoder takes over those that it needs to resume at `frame`.
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
