// SPDX-License-Identifier: Apache-2.0

/// Convolves the input with the taps of one level of a `PartitionPlan`, which must not be the first
/// level.
///
/// A full block is processed at once or, if the level is deferred, in steps while the next block
/// arrives.
struct ConvolverTail: ~Copyable, @unchecked Sendable {
  private let bank: QuadBank
  private let set: InstructionSet
  private let isDeferred: Bool
  /// 2 x quads x size rows of four samples: the incoming block and the block being processed.
  private let rows: AlignedFloats
  /// 2 x quads flags: for each block in `rows`, whether each quad has non-zero samples.
  private let sounds: UnsafeMutablePointer<Bool>
  private let now: AlignedFloats
  private let overlaps: AlignedFloats
  /// Four planes of `size` frames: the left and right output for the current block, then for the
  /// next block.
  private let ears: AlignedFloats
  private let state: UnsafeMutablePointer<State>

  private struct State {
    var fill = 0
    /// The half of `rows` that receives input.
    var side = 0
    var overlapSide = 0
    /// The number of completed steps of the block being processed.
    var done = 0
    var overlapSounds = false
    var isHeard = false
    var willBeHeard = false

    @_noLocks init() {}
  }

  private static var shareSize: Int {
    @_noLocks get { 128 }
  }

  init(lanes: QuadLanes, level: PartitionPlan.Level, set: InstructionSet) {
    bank = QuadBank(lanes: lanes, level: level, set: set)
    self.set = set
    isDeferred = level.isDeferred
    rows = AlignedFloats(count: 8 * level.size * lanes.quads)
    sounds = .allocate(capacity: 2 * lanes.quads)
    sounds.initialize(repeating: false, count: 2 * lanes.quads)
    now = AlignedFloats(count: 4 * level.size)
    overlaps = AlignedFloats(count: 8 * level.size)
    ears = AlignedFloats(count: 4 * level.size)
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit {
    sounds.deallocate()
    state.deallocate()
  }

  @_noLocks
  func reset() {
    bank.reset()
    rows.clear()
    overlaps.clear()
    ears.clear()
    for q in 0..<(2 * bank.quads) { sounds[q] = false }
    state.pointee = State()
  }

  private var size: Int {
    @_noLocks get { bank.size }
  }

  /// Takes the next input frames and adds the tail's output for them to `left` and `right`.
  ///
  /// - Parameters:
  ///   - quadRows: quads x frames rows of four samples.
  ///   - stride: the number of floats from one quad to the next.
  ///   - quadSounds: whether each quad has non-zero samples.
  ///   - frames: at most the number of frames until the block is full.
  @_noLocks
  func process(
    rows quadRows: UnsafePointer<Float>, stride: Int, sounds quadSounds: UnsafePointer<Bool>,
    frames: Int, left: UnsafeMutablePointer<Float>, right: UnsafeMutablePointer<Float>
  ) {
    let fill = state.pointee.fill
    if state.pointee.isHeard {
      let (l, r) = (ears.pointer + fill, ears.pointer + size + fill)
      for i in 0..<frames {
        left[i] += l[i]
        right[i] += r[i]
      }
    }
    let half = state.pointee.side * bank.quads
    for q in 0..<bank.quads {
      let to = rows.pointer + (half + q) * 4 * size + 4 * fill
      let from = quadRows + q * stride
      for i in 0..<(4 * frames) { to[i] = from[i] }
      if quadSounds[q] { sounds[half + q] = true }
    }
    state.pointee.fill = fill + frames
    if isDeferred { work(until: steps * state.pointee.fill / size) }
    if state.pointee.fill == size { endBlock() }
  }

  @_noLocks
  private func endBlock() {
    state.pointee.fill = 0
    state.pointee.side = 1 - state.pointee.side
    if !isDeferred {
      state.pointee.done = 0
      work(until: steps)
    }
    for i in 0..<(2 * size) { ears.pointer[i] = ears.pointer[2 * size + i] }
    state.pointee.isHeard = state.pointee.willBeHeard
    state.pointee.done = 0
    let half = state.pointee.side * bank.quads
    for q in 0..<bank.quads { sounds[half + q] = false }
  }

  // MARK: Processing a block

  private var shares: Int {
    @_noLocks get { max(1, size / Self.shareSize) }
  }

  private var steps: Int {
    @_noLocks get { bank.quads + shares + 1 }
  }

  @_noLocks
  private func work(until last: Int) {
    while state.pointee.done < last {
      step(state.pointee.done)
      state.pointee.done += 1
    }
  }

  @_noLocks
  private func step(_ step: Int) {
    let half = (1 - state.pointee.side) * bank.quads
    if step < bank.quads {
      if step == 0 { bank.beginBlock() }
      bank.transform(
        quad: step, rows: rows.pointer + (half + step) * 4 * size,
        isSilent: !sounds[half + step])
    } else if step < bank.quads + shares {
      let share = step - bank.quads
      if share == 0 { _ = bank.choose(0, bank.partitions) }
      bank.sum(share: share, of: shares)
    } else {
      finish()
    }
  }

  @_noLocks
  private func finish() {
    let side = state.pointee.overlapSide
    let overlap = overlaps.pointer + side * 4 * size
    let sounds = bank.choose(0, bank.partitions)
    state.pointee.willBeHeard = sounds ? true : state.pointee.overlapSounds
    state.pointee.overlapSounds = sounds
    guard state.pointee.willBeHeard else { return }
    bank.inverse(now: now.pointer, next: overlaps.pointer + (1 - side) * 4 * size)
    set.splitEars(
      now.pointer, overlap, frames: size, isSymmetric: bank.isSymmetric,
      left: ears.pointer + 2 * size, right: ears.pointer + 3 * size)
    state.pointee.overlapSide = 1 - side
  }
}
