// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Binaural
internal import Geometry
internal import Surround

/// From loudspeakers to the ears: through the soundfield, or each through responses of its own.
struct SpeakerPath: ~Copyable {
  let tailFrames: Int
  private let bed: Bed
  /// The loudspeakers' channels among the source's.
  private let inputs: UnsafeMutablePointer<Int>
  private let planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
  private let count: Int

  private enum Bed: ~Copyable {
    case field(BedDecoder)
    case direct(DirectDecoder)
  }

  init(speakers: [PlacedSpeaker], filters: BinauralFilters, partition: Int) {
    let directions = speakers.map(\.direction)
    count = speakers.count
    inputs = .allocate(capacity: max(1, count))
    inputs.initialize(from: speakers.map(\.input), count: count)
    planes = .allocate(capacity: max(1, count))
    if let bank = filters.direct {
      let decoder = DirectDecoder(
        bank: bank, sampleRate: filters.sampleRate, directions: directions, partition: partition)
      tailFrames = decoder.tailFrames
      bed = .direct(decoder)
    } else {
      let decoder = BedDecoder(filters: filters, directions: directions, partition: partition)
      tailFrames = decoder.tailFrames
      bed = .field(decoder)
    }
  }

  deinit {
    inputs.deallocate()
    planes.deallocate()
  }

  @_noLocks
  func gridPoints(forNext frames: Int) -> Range<Int> {
    switch bed {
    case .field(let decoder): decoder.gridPoints(forNext: frames)
    case .direct(let decoder): decoder.gridPoints(forNext: frames)
    }
  }

  /// Where it stands on the grid of head poses; set, it goes on from there.
  var gridState: GridState {
    @_noLocks get {
      switch bed {
      case .field(let decoder): decoder.gridState
      case .direct(let decoder): decoder.gridState
      }
    }
    @_noLocks nonmutating set {
      switch bed {
      case .field(let decoder): decoder.gridState = newValue
      case .direct(let decoder): decoder.gridState = newValue
      }
    }
  }

  @_noLocks
  func reset() {
    switch bed {
    case .field(let decoder): decoder.reset()
    case .direct(let decoder): decoder.reset()
    }
  }

  @_noLocks
  func process(
    _ source: UnsafePointer<UnsafeMutablePointer<Float>>, poses: UnsafePointer<Quaternion>,
    into ears: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) {
    for s in 0..<count { (planes + s).initialize(to: source[inputs[s]]) }
    switch bed {
    case .field(let decoder):
      decoder.process(
        input: planes, frames: frames, poses: poses, left: ears[0], right: ears[1])
    case .direct(let decoder):
      decoder.process(
        input: planes, frames: frames, poses: poses, left: ears[0], right: ears[1])
    }
  }
}
