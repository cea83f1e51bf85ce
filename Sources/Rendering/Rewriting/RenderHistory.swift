// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing

/// The latest input and output of a renderer, for rendering the output again.
///
/// Frames are counted from the last reset. The sum is the input of the limiter. Frame `n` of the
/// output is what the limiter returns when it receives frame `n` of the sum. Because of the
/// limiter's delay, that output frame contains an earlier frame of the sum.
///
/// ## Threading
/// Any thread may read `capacity` and `isKept`. Use all other members on the audio thread only; the
/// functions do not allocate, lock or wait.
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

  /// How the frames from one grid point to the next were rendered.
  struct Cell {
    /// The number of the decoder that rendered the cell (`PathSwitch.number`); 0 if there was more
    /// than one.
    var decoder = 0
    /// Whether the sum comes from a single rendering with the played poses.
    var isPure = true
  }

  /// The number of frames from one saved state of the limiter to the next.
  static var stateFrames: Int { @_noLocks get { 512 } }
  private static var cellFrames: Int { @_noLocks get { 16 } }

  let channels: Int
  /// The number of frames kept, a multiple of `stateFrames`; 0 if nothing is kept.
  let capacity: Int
  private let samples: AlignedFloats
  private let cells: UnsafeMutablePointer<Cell>
  private let states: UnsafeMutableRawPointer
  private let stateBytes: Int
  private let position: UnsafeMutablePointer<Position>

  private struct Position {
    var end = 0
    /// Cells that begin before this frame are marked as mixtures when they are appended.
    var mixedEnd = 0

    @_noLocks init() {}
  }

  /// Allocates a history of `frames` frames, rounded up to a multiple of `stateFrames`.
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
  /// The number of frames appended since the last reset.
  var end: Int { @_noLocks get { position.pointee.end } }
  /// The first frame that has not been overwritten.
  var begin: Int { @_noLocks get { max(0, position.pointee.end - capacity) } }

  @_noLocks
  func reset() { position.pointee = Position() }

  // MARK: Samples

  /// Stores `count` samples of source channel `plane`, starting at frame `first`.
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

  /// Appends frames whose samples have been stored.
  ///
  /// - Parameter decoder: `PathSwitch.heard` for these frames.
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

  /// Records whether the sums in a range come from a single rendering with the played poses. The
  /// value false also applies to frames of the range that are appended later.
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

  /// Returns the memory for the limiter state before a frame, which must be a multiple of
  /// `stateFrames`.
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
