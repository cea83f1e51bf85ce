// SPDX-License-Identifier: Apache-2.0

private import Ambisonics
private import CRealtime
private import SignalProcessing

/// Delays the signal of each loudspeaker for each ear. A delay is a fractional number of frames and
/// changes linearly between grid points.
///
/// Interpolation uses a Kaiser-windowed sinc (beta 8). At sample rates of 22.05 kHz or more, it has
/// 16 frames on each side, and the level is correct to 0.01 dB up to 0.84 times half the sample
/// rate. At lower rates, it has fewer frames.
///
/// ## Threading
/// One caller at a time. Methods do not allocate, lock or wait.
struct EarDelayLine: ~Copyable {
  /// The longest delay in frames, including the reach of the interpolation.
  let longestDelay: Int

  private let speakers: Int
  /// The delay for an arrival time of 0, in frames.
  private let base: Float
  private let sampleRate: Double
  /// The number of frames on each side of a position that contribute to an output frame.
  private let reach: Int
  private let phases: Int
  private let cell = PoseGrid.cellFrames
  /// The interpolation kernel: (phases + 1) x 2 reach.
  private let kernel: AlignedFloats
  private let length: Int
  /// The ring buffers, speakers x 2 x `length`. Each ring is stored twice in succession, so that
  /// the frames around a position are contiguous.
  private let rings: AlignedFloats
  /// The delays in the current cell, speakers x 2 ears x 3: the delay at the start of the cell in
  /// frames, the slope per frame, and the delay at the end of the cell in frames.
  private let delays: AlignedFloats
  /// The index in a ring at which the next frame is written.
  private let position: UnsafeMutablePointer<Int>

  init(speakers: Int, sampleRate: Double) {
    self.speakers = speakers
    self.sampleRate = sampleRate
    base = Float(BinauralFilters.delaySeconds * sampleRate)
    let (earliest, latest) = (GapFilling.arrival(SIMD3(0, 1, 0), ear: 0), GapFilling.latestArrival)
    let room = Int((BinauralFilters.delaySeconds + earliest) * sampleRate)
    reach = max(4, min(16, room / 4 * 4))
    longestDelay = Int((BinauralFilters.delaySeconds + latest) * sampleRate) + reach + 1
    var length = 64
    while length < longestDelay + reach + 2 * cell { length *= 2 }
    self.length = length
    phases = 512
    kernel = Self.kernel(reach: reach, phases: phases)
    rings = AlignedFloats(count: speakers * 2 * length)
    delays = AlignedFloats(count: speakers * 6)
    position = .allocate(capacity: 1)
    position.initialize(to: 0)
  }

  deinit { position.deallocate() }

  /// Returns the interpolation kernel. It contains, for each phase (fractional part of a position),
  /// the coefficients of the 2 x `reach` frames around the position. The coefficients of a phase
  /// sum to 1.
  private static func kernel(reach: Int, phases: Int) -> AlignedFloats {
    let table = AlignedFloats(count: (phases + 1) * 2 * reach)
    for phase in 0...phases {
      let row = (0..<(2 * reach)).map { column -> Double in
        let u = Double(phase) / Double(phases) - Double(column - reach + 1)
        let edge = u / Double(reach)
        guard abs(edge) < 1 else { return 0 }
        let sinc = u == 0 ? 1 : realtime_sin(.pi * u) / (.pi * u)
        return sinc * besselI0(8 * (1 - edge * edge).squareRoot())
      }
      let sum = row.reduce(0, +)
      for (column, value) in row.enumerated() {
        table.pointer[phase * 2 * reach + column] = Float(value / sum)
      }
    }
    return table
  }

  @_noLocks
  func reset() {
    rings.clear()
    position.pointee = 0
  }

  /// Sets the delay at the end of the current cell from an arrival time in s.
  @_noLocks
  func setArrival(_ seconds: Double, speaker: Int, ear: Int) {
    delays.pointer[(2 * speaker + ear) * 3 + 2] = base + Float(seconds * sampleRate)
  }

  /// Starts a cell with constant delays: the values that `setArrival` set last.
  @_noLocks
  func beginCell() {
    for i in 0..<(2 * speakers) {
      delays.pointer[3 * i] = delays.pointer[3 * i + 2]
      delays.pointer[3 * i + 1] = 0
    }
  }

  /// Computes the slopes of all delays in the cell. Call this function after `setArrival` has set
  /// the delays at the end of the cell.
  @_noLocks
  func setSlopes() {
    let scale = 1 / Float(cell)
    for i in 0..<(2 * speakers) {
      delays.pointer[3 * i + 1] = (delays.pointer[3 * i + 2] - delays.pointer[3 * i]) * scale
    }
  }

  /// Writes the next frames of a loudspeaker, at most `PoseGrid.cellFrames`. Call `advance` after
  /// all reads for these frames.
  @_noLocks
  func write(_ samples: UnsafePointer<Float>, speaker: Int, frames: Int) {
    let ring = rings.pointer + speaker * 2 * length
    for i in 0..<frames {
      let at = (position.pointee + i) & (length - 1)
      ring[at] = samples[i]
      ring[at + length] = samples[i]
    }
  }

  @_noLocks
  func advance(by frames: Int) { position.pointee = (position.pointee + frames) & (length - 1) }

  /// Reads a loudspeaker's signal with the delay for an ear, at the times of the frames that were
  /// just written.
  ///
  /// - Parameter offset: the number of frames of the cell that precede the first of these frames.
  @_noLocks
  func read(
    _ output: UnsafeMutablePointer<Float>, speaker: Int, ear: Int, frames: Int, offset: Int
  ) {
    let ring = rings.pointer + speaker * 2 * length
    let at = (2 * speaker + ear) * 3
    let (start, slope) = (delays.pointer[at], delays.pointer[at + 1])
    for i in 0..<frames {
      let delay = start + slope * Float(offset + i)
      let whole = Int(delay)
      let phase = (1 - (delay - Float(whole))) * Float(phases)
      let row = min(Int(phase), phases - 1)
      let first = (position.pointee + i - whole - reach + length) & (length - 1)
      output[i] = interpolate(
        ring + first, kernel.pointer + row * 2 * reach, mix: phase - Float(row))
    }
  }

  @_noLocks
  @inline(__always)
  private func interpolate(
    _ x: UnsafePointer<Float>, _ low: UnsafePointer<Float>, mix: Float
  ) -> Float {
    let high = low + 2 * reach
    var sum = SIMD8<Float>(repeating: 0)
    var n = 0
    while n < 2 * reach {
      let a = load8(low + n)
      sum += load8(x + n) * (a + (load8(high + n) - a) * mix)
      n += 8
    }
    return sum.sum()
  }
}

@_noLocks
@inline(__always)
private func load8(_ p: UnsafePointer<Float>) -> SIMD8<Float> {
  SIMD8(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7])
}
