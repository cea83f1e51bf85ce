// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing

/// What a renderer has rendered lately, kept so that its turn with the head can be rendered again.
///
/// Of every frame: the source as it was rendered, the gain of what turns with the head, what does
/// not turn (gains applied), the sum of both as the limiter got it, and the output as it is queued.
/// Of every cell of the grid: by which decoder it was rendered, and whether its sum is what the
/// poses played make of the source. Of the limiter: its state, every so many frames.
///
/// Frames count from the last reset; frame n of the output is the limiter's answer to frame n of
/// the sum, which is later by its latency.
///
/// ## Threading
/// The audio thread's; nothing allocates, locks or waits.
struct RenderHistory: ~Copyable, @unchecked Sendable {
  enum Plane: Int {
    case gain
    case stillLeft
    case stillRight
    case sumLeft
    case sumRight
    case outputLeft
    case outputRight
  }

  struct Cell {
    /// Number of the decoder; 0 where two of them were mixed.
    var decoder = 0
    /// False where the sum is a mixture of two renderings.
    var isPure = true
  }

  /// Frames between two states of the limiter.
  static var stateFrames: Int { @_noLocks get { 512 } }
  private static var cellFrames: Int { @_noLocks get { 16 } }

  let channels: Int
  /// Frames that are kept, a multiple of `stateFrames`; 0 where nothing is.
  let capacity: Int
  private let samples: AlignedFloats
  private let cells: UnsafeMutablePointer<Cell>
  private let states: UnsafeMutableRawPointer
  private let stateBytes: Int
  private let position: UnsafeMutablePointer<Position>

  private struct Position {
    var end = 0
    /// The appended sums are mixtures before this frame.
    var mixedEnd = 0

    @_noLocks init() {}
  }

  /// - Parameters:
  ///   - channels: of the source.
  ///   - frames: to keep; 0 for none.
  ///   - stateBytes: of the limiter.
  init(channels: Int, frames: Int, stateBytes: Int) {
    self.channels = channels
    self.stateBytes = stateBytes
    let states = (frames + Self.stateFrames - 1) / Self.stateFrames
    capacity = states * Self.stateFrames
    samples = AlignedFloats(count: (channels + 7) * capacity)
    cells = .allocate(capacity: max(1, capacity / Self.cellFrames))
    cells.initialize(repeating: Cell(), count: max(1, capacity / Self.cellFrames))
    self.states = .allocate(byteCount: max(1, states * stateBytes), alignment: 64)
    self.states.initializeMemory(as: UInt8.self, repeating: 0, count: max(1, states * stateBytes))
    position = .allocate(capacity: 1)
    position.initialize(to: Position())
  }

  deinit {
    cells.deallocate()
    states.deallocate()
    position.deallocate()
  }

  var isKept: Bool { @_noLocks get { capacity > 0 } }
  /// Frames since the reset.
  var end: Int { @_noLocks get { position.pointee.end } }
  /// The oldest frame that is there.
  var begin: Int { @_noLocks get { max(0, position.pointee.end - capacity) } }

  @_noLocks
  func reset() { position.pointee = Position() }

  // MARK: Samples

  /// - Parameter plane: of the source.
  @_noLocks
  func storeSource(_ plane: Int, at first: Int, _ from: UnsafePointer<Float>, _ count: Int) {
    store(line(plane), first, from, count)
  }

  @_noLocks
  func store(_ plane: Plane, at first: Int, _ from: UnsafePointer<Float>, _ count: Int) {
    store(line(channels + plane.rawValue), first, from, count)
  }

  @_noLocks
  func loadSource(_ plane: Int, at first: Int, _ to: UnsafeMutablePointer<Float>, _ count: Int) {
    load(line(plane), first, to, count)
  }

  @_noLocks
  func load(_ plane: Plane, at first: Int, _ to: UnsafeMutablePointer<Float>, _ count: Int) {
    load(line(channels + plane.rawValue), first, to, count)
  }

  @_noLocks
  private func line(_ plane: Int) -> UnsafeMutablePointer<Float> {
    samples.pointer + plane * capacity
  }

  @_noLocks
  private func store(
    _ line: UnsafeMutablePointer<Float>, _ first: Int, _ from: UnsafePointer<Float>, _ count: Int
  ) {
    let at = first % capacity
    let part = min(count, capacity - at)
    copyFrames(from, line + at, part)
    copyFrames(from + part, line, count - part)
  }

  @_noLocks
  private func load(
    _ line: UnsafePointer<Float>, _ first: Int, _ to: UnsafeMutablePointer<Float>, _ count: Int
  ) {
    let at = first % capacity
    let part = min(count, capacity - at)
    copyFrames(line + at, to, part)
    copyFrames(line, to + part, count - part)
  }

  // MARK: Cells

  /// Frames have been appended.
  ///
  /// - Parameter decoder: that rendered them; 0 where two were mixed.
  @_noLocks
  func append(_ count: Int, decoder: Int) {
    let first = position.pointee.end
    position.pointee.end = first + count
    var at = first
    while at < first + count {
      let cell = pointer(at)
      let isBegun = at % Self.cellFrames != 0
      if isBegun, cell.pointee.decoder != decoder { cell.pointee.decoder = 0 }
      if !isBegun { cell.pointee = Cell(decoder, isPure: at >= position.pointee.mixedEnd) }
      at = (at / Self.cellFrames + 1) * Self.cellFrames
    }
  }

  @_noLocks
  func cell(_ frame: Int) -> Cell { pointer(frame).pointee }

  /// The sums from one frame to another are, or are not, what the poses played make of the source.
  @_noLocks
  func setPure(_ isPure: Bool, from first: Int, to end: Int) {
    guard first < end else { return }
    var at = first
    while at < min(end, position.pointee.end) {
      pointer(at).pointee.isPure = isPure
      at = (at / Self.cellFrames + 1) * Self.cellFrames
    }
    if !isPure { position.pointee.mixedEnd = max(position.pointee.mixedEnd, end) }
  }

  @_noLocks
  private func pointer(_ frame: Int) -> UnsafeMutablePointer<Cell> {
    cells + frame % capacity / Self.cellFrames
  }

  // MARK: States of the limiter

  /// Room for the state before a frame, a multiple of `stateFrames`.
  @_noLocks
  func limiterState(before frame: Int) -> UnsafeMutableRawPointer {
    states + frame % capacity / Self.stateFrames * stateBytes
  }
}

extension RenderHistory.Cell {
  @_noLocks
  init(_ decoder: Int, isPure: Bool) {
    self.decoder = decoder
    self.isPure = isPure
  }
}
