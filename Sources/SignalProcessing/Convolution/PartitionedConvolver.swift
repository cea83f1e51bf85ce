// SPDX-License-Identifier: Apache-2.0

/// Convolves each input with one filter per ear and sums the results of each ear, without latency.
///
/// The method is non-uniformly partitioned overlap-add in the frequency domain (`PartitionPlan`) on
/// four inputs at a time (a quad). Every call transforms the newest block, even if it is
/// incomplete. Silent quads are skipped.
///
/// ## Threading
/// Use a convolver from one thread at a time. `process` does not allocate, lock or wait.
public struct PartitionedConvolver: ~Copyable, @unchecked Sendable {
  public let inputs: Int
  public let taps: Int
  /// The number of frames in the shortest partition, a power of two.
  public let partition: Int
  /// Whether one filter per input serves both ears, because the two filters of every input are
  /// equal or differ only in sign.
  public let isSymmetric: Bool

  private let set: InstructionSet
  private let bank: QuadBank
  private let tails: UnsafeMutablePointer<ConvolverTail>
  private let tailCount: Int
  /// The index of the input in each lane; -1 for an empty lane.
  private let laneInputs: UnsafeMutablePointer<Int>
  private let silence: AlignedFloats
  /// The newest block: quads x partition rows of four samples.
  private let rows: AlignedFloats
  private let quadSounds: UnsafeMutablePointer<Bool>
  private let now: AlignedFloats
  /// Two halves, which alternate: what the newest block adds to the next block, and what the
  /// previous block adds to the newest block.
  private let overlaps: AlignedFloats
  private let older: AlignedFloats
  private let state: UnsafeMutablePointer<State>

  private struct State {
    /// The number of frames that have arrived in the newest block.
    var fill = 0
    /// The half of `overlaps` that the previous block wrote.
    var side = 0
    var overlapSounds = false
    /// Whether `older` holds the sums of products for the blocks before the newest block.
    var hasOlder = false
    var olderSounds = false

    @_noLocks init() {}
  }

  /// Prepares the filters.
  ///
  /// - Parameters:
  ///   - left: the filters for the left ear, inputs x taps.
  ///   - right: the filters for the right ear, inputs x taps.
  ///   - partition: the shortest partition, in frames; a power of two, at least 16.
  ///   - set: the instruction set of the kernels.
  ///   - usesSymmetry: whether to set `isSymmetric` if the filters allow it.
  public init(
    left: [[Float]], right: [[Float]], partition: Int, set: InstructionSet = .current,
    usesSymmetry: Bool = true
  ) {
    precondition(!left.isEmpty && left.count == right.count)
    precondition(partition >= 16 && partition & (partition - 1) == 0)
    let lanes = QuadLanes(left: left, right: right, usesSymmetry: usesSymmetry)
    inputs = left.count
    taps = (left + right).map(\.count).max() ?? 0
    self.partition = partition
    self.set = set
    isSymmetric = lanes.isSymmetric
    let plan = PartitionPlan(
      taps: taps, block: partition, quads: lanes.quads,
      productCost: lanes.isSymmetric ? 0.45 : 0.8)
    bank = QuadBank(lanes: lanes, level: plan.levels[0], set: set)
    tailCount = plan.levels.count - 1
    tails = .allocate(capacity: tailCount)
    for (i, level) in plan.levels.dropFirst().enumerated() {
      (tails + i).initialize(to: ConvolverTail(lanes: lanes, level: level, set: set))
    }
    laneInputs = .allocate(capacity: lanes.inputs.count)
    for (lane, input) in lanes.inputs.enumerated() {
      (laneInputs + lane).initialize(to: input ?? -1)
    }
    silence = AlignedFloats(count: partition)
    rows = AlignedFloats(count: 4 * partition * lanes.quads)
    quadSounds = .allocate(capacity: lanes.quads)
    quadSounds.initialize(repeating: false, count: lanes.quads)
    now = AlignedFloats(count: 4 * partition)
    overlaps = AlignedFloats(count: 8 * partition)
    older = AlignedFloats(count: 8 * partition)
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit {
    tails.deinitialize(count: tailCount)
    tails.deallocate()
    laneInputs.deallocate()
    quadSounds.deallocate()
    state.deallocate()
  }

  /// Forgets all previous input.
  @_noLocks
  public func reset() {
    bank.reset()
    rows.clear()
    overlaps.clear()
    for q in 0..<bank.quads { quadSounds[q] = false }
    for t in 0..<tailCount { tails[t].reset() }
    state.pointee = State()
  }

  /// The number of frames until the newest block is full. `process` is most efficient if each call
  /// has this many frames.
  public var framesToBorder: Int {
    @_noLocks get { partition - state.pointee.fill }
  }

  /// Filters the next frames.
  ///
  /// - Parameters:
  ///   - input: inputs x frames.
  ///   - stride: the number of floats from one input to the next.
  ///   - frames: at most `framesToBorder`.
  ///   - left: receives `frames` samples.
  ///   - right: receives `frames` samples.
  @_noLocks
  public func process(
    input: UnsafePointer<Float>, stride: Int, frames: Int, left: UnsafeMutablePointer<Float>,
    right: UnsafeMutablePointer<Float>
  ) {
    let fill = state.pointee.fill
    if fill == 0 { beginBlock(frames) }
    take(input, stride, frames)
    let sounds = sum(isWhole: frames == partition)
    let overlap = overlaps.pointer + state.pointee.side * 4 * partition
    if sounds {
      let next = overlaps.pointer + (1 - state.pointee.side) * 4 * partition
      bank.inverse(now: now.pointer, next: next)
    }
    deliver(sounds, overlap, frames, left, right)
    for t in 0..<tailCount {
      tails[t].process(
        rows: rows.pointer + 4 * fill, stride: 4 * partition, sounds: quadSounds, frames: frames,
        left: left, right: right)
    }
    state.pointee.fill = fill + frames
    if state.pointee.fill == partition { endBlock(sounds) }
  }

  @_noLocks
  private func beginBlock(_ frames: Int) {
    bank.beginBlock()
    for q in 0..<bank.quads { quadSounds[q] = false }
    // Frames that have not arrived yet count as zero.
    if frames < partition { rows.clear() }
  }

  @_noLocks
  private func take(_ input: UnsafePointer<Float>, _ stride: Int, _ frames: Int) {
    for q in 0..<bank.quads {
      let lane = laneInputs + 4 * q
      let quad = rows.pointer + 4 * partition * q
      let sounds = set.interleave(
        source(input, stride, lane[0]), source(input, stride, lane[1]),
        source(input, stride, lane[2]), source(input, stride, lane[3]), frames: frames,
        rows: quad + 4 * state.pointee.fill)
      if sounds { quadSounds[q] = true }
      bank.transform(quad: q, rows: quad, isSilent: !quadSounds[q])
    }
  }

  @_noLocks
  @inline(__always)
  private func source(
    _ input: UnsafePointer<Float>, _ stride: Int, _ index: Int
  ) -> UnsafePointer<Float> {
    index < 0 ? UnsafePointer(silence.pointer) : input + index * stride
  }

  /// Sums the products of spectra and filters. Returns false if all blocks in `bank` are silent.
  @_noLocks
  private func sum(isWhole: Bool) -> Bool {
    if isWhole {
      let sounds = bank.choose(0, bank.partitions)
      if sounds { bank.sum() }
      return sounds
    }
    if !state.pointee.hasOlder {
      state.pointee.olderSounds = bank.choose(1, bank.partitions)
      bank.sum(keptIn: older.pointer)
      state.pointee.hasOlder = true
    }
    let sounds = bank.choose(0, 1)
    bank.sum(before: older.pointer)
    return sounds ? true : state.pointee.olderSounds
  }

  @_noLocks
  private func deliver(
    _ sounds: Bool, _ overlap: UnsafePointer<Float>, _ frames: Int,
    _ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>
  ) {
    let first = 4 * state.pointee.fill
    if sounds {
      set.splitEars(
        now.pointer + first, overlap + first, frames: frames, isSymmetric: isSymmetric,
        left: left, right: right)
    } else if state.pointee.overlapSounds {
      now.clear()
      set.splitEars(
        now.pointer, overlap + first, frames: frames, isSymmetric: isSymmetric, left: left,
        right: right)
    } else {
      for i in 0..<frames {
        left[i] = 0
        right[i] = 0
      }
    }
  }

  @_noLocks
  private func endBlock(_ sounds: Bool) {
    state.pointee.side = 1 - state.pointee.side
    if !sounds {
      let overlap = overlaps.pointer + state.pointee.side * 4 * partition
      for i in 0..<(4 * partition) { overlap[i] = 0 }
    }
    state.pointee.overlapSounds = sounds
    state.pointee.fill = 0
    state.pointee.hasOlder = false
  }
}
