// SPDX-License-Identifier: Apache-2.0

/// The filters of one `PartitionPlan.Level`, and the spectra of the newest input blocks, one for
/// each partition.
///
/// ## Threading
/// Use a bank from one thread at a time. After `init`, no call allocates, locks or waits.
struct QuadBank: ~Copyable, @unchecked Sendable {
  /// The number of frames in a block and of taps in a partition.
  let size: Int
  let partitions: Int
  let quads: Int
  let isSymmetric: Bool

  private let set: InstructionSet
  private let transform: RightAngleTransform
  private let filters: AlignedFloats
  private let spectra: AlignedFloats
  private let scratch: AlignedFloats
  private let sums: AlignedFloats
  private let masks: AlignedFloats
  /// partitions x quads flags: for each block in `spectra`, whether each quad has non-zero samples.
  private let sounds: UnsafeMutablePointer<Bool>
  private let runs: UnsafeMutablePointer<Int>
  private let evenLanes: UnsafeMutablePointer<Int>
  private let state: UnsafeMutablePointer<State>

  private struct State {
    /// The index of the newest block in `spectra`, which is a ring. Older blocks follow.
    var newest = 0
    var runCount = 0

    @_noLocks init() {}
  }

  private var chunks: Int {
    @_noLocks get { size / 4 }
  }
  private var spectrumStride: Int {
    @_noLocks get { 32 * partitions * quads }
  }
  private var filterFloats: Int {
    @_noLocks get { isSymmetric ? 32 : 64 }
  }
  private var runLength: Int {
    @_noLocks get { isSymmetric ? 4 : 3 }
  }

  /// Computes the spectra of the filter partitions in `level`.
  init(lanes: QuadLanes, level: PartitionPlan.Level, set: InstructionSet) {
    size = level.size
    partitions = level.partitions
    quads = lanes.quads
    isSymmetric = lanes.isSymmetric
    self.set = set
    transform = RightAngleTransform(size: size, set: set)
    filters = AlignedFloats(
      count: size / 4 * partitions * quads * (lanes.isSymmetric ? 32 : 64))
    spectra = AlignedFloats(count: 8 * size * partitions * quads)
    scratch = AlignedFloats(count: transform.scratchCount)
    sums = AlignedFloats(count: 8 * size)
    masks = AlignedFloats(count: 5 * 16)
    for i in 0..<(5 * 16) where i % 4 < i / 16 { masks.pointer[i] = 1 }
    sounds = .allocate(capacity: partitions * quads)
    sounds.initialize(repeating: false, count: partitions * quads)
    runs = .allocate(capacity: 4 * (partitions * quads + 1))
    runs.initialize(repeating: 0, count: 4 * (partitions * quads + 1))
    evenLanes = .allocate(capacity: quads)
    for q in 0..<quads { (evenLanes + q).initialize(to: lanes.evenLanes(quad: q)) }
    state = .allocate(capacity: 1)
    state.initialize(to: State())
    for ear in 0..<(isSymmetric ? 1 : 2) { fill(lanes, ear, level) }
  }

  deinit {
    sounds.deallocate()
    runs.deallocate()
    evenLanes.deallocate()
    state.deallocate()
  }

  private func fill(_ lanes: QuadLanes, _ ear: Int, _ level: PartitionPlan.Level) {
    let rows = AlignedFloats(count: 4 * size)
    let spectrum = AlignedFloats(count: 8 * size)
    for p in 0..<partitions {
      for q in 0..<quads {
        for lane in 0..<4 {
          let filter = lanes.filter(lane: 4 * q + lane, ear: ear)
          for n in 0..<size {
            let tap = level.offset + p * size + n
            // Compensate for the inverse transform, which scales by `size`.
            rows.pointer[4 * n + lane] = tap < filter.count ? filter[tap] / Float(size) : 0
          }
        }
        transform.forward(
          rows.pointer, scratch: scratch.pointer, spectrum: spectrum.pointer, stride: 32)
        for chunk in 0..<chunks {
          let item = (chunk * partitions + p) * quads + q
          let to = filters.pointer + item * filterFloats + 32 * ear
          for i in 0..<32 { to[i] = spectrum.pointer[32 * chunk + i] }
        }
      }
    }
  }

  @_noLocks
  func reset() {
    for i in 0..<(partitions * quads) { sounds[i] = false }
    state.pointee = State()
  }

  /// Begins a new block for `transform`.
  @_noLocks
  func beginBlock() {
    state.pointee.newest = (state.pointee.newest + partitions - 1) % partitions
  }

  /// Transforms the four inputs of a quad for the newest block. `rows` are `size` rows of four
  /// samples; `isSilent` means that all samples are zero.
  @_noLocks
  func transform(quad: Int, rows: UnsafePointer<Float>, isSilent: Bool) {
    let item = state.pointee.newest * quads + quad
    sounds[item] = !isSilent
    if isSilent { return }
    transform.forward(
      rows, scratch: scratch.pointer, spectrum: spectra.pointer + 32 * item, stride: spectrumStride)
  }

  /// Selects the blocks for `sum`: `first` to `last` - 1, where 0 is the newest.
  ///
  /// - Returns: false if all of them are silent.
  @_noLocks
  func choose(_ first: Int, _ last: Int) -> Bool {
    var at = -1
    for p in stride(from: first, to: last, by: 1) {
      var slot = state.pointee.newest + p
      if slot >= partitions { slot -= partitions }
      for q in 0..<quads {
        let (x, h) = (slot * quads + q, p * quads + q)
        if !sounds[x] { continue }
        if at >= 0 {
          let run = runs + at * runLength
          var joins = run[0] + run[2] == x
          if run[1] + run[2] != h { joins = false }
          if isSymmetric { if run[3] != evenLanes[q] { joins = false } }
          if joins {
            run[2] += 1
            continue
          }
        }
        at += 1
        let run = runs + at * runLength
        (run[0], run[1], run[2]) = (x, h, 1)
        if isSymmetric { run[3] = evenLanes[q] }
      }
    }
    state.pointee.runCount = at + 1
    return at >= 0
  }

  /// Sums the products of the chosen blocks and the filters.
  ///
  /// - Parameters:
  ///   - share: the share of the bins to compute, 0 to `shares` - 1.
  ///   - shares: the number of shares.
  ///   - before: the initial values of the sums; nil for zero. Allowed only if `shares` is 1.
  ///   - kept: receives the sums; nil to store them for `inverse`.
  @_noLocks
  func sum(
    share: Int = 0, of shares: Int = 1, before: UnsafePointer<Float>? = nil,
    keptIn kept: UnsafeMutablePointer<Float>? = nil
  ) {
    let first = chunks * share / shares
    let last = chunks * (share + 1) / shares
    let filterStride = filterFloats * partitions * quads
    set.addProducts(
      spectra.pointer + first * spectrumStride, stride: spectrumStride,
      filters.pointer + first * filterStride, filterStride: filterStride, runs,
      count: state.pointee.runCount, masks: isSymmetric ? UnsafePointer(masks.pointer) : nil,
      chunks: last - first, before: before, sums: (kept ?? sums.pointer) + 32 * first)
  }

  /// Transforms the sums to rows for `splitEars`. `next` receives the rows to be added to the next
  /// block.
  @_noLocks
  func inverse(now: UnsafeMutablePointer<Float>, next: UnsafeMutablePointer<Float>) {
    transform.inverse(sums.pointer, re: now, im: next)
  }
}
