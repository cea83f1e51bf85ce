// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

/// A stereo limiter with look-ahead that keeps the estimated true peak at or below a ceiling.
///
/// The true peak is estimated by four-fold oversampling (ITU-R BS.1770-5, Annex 2;
/// `TruePeakInterpolator`). Both channels have the same gain, which limits peaks to a target
/// 0.05 dB below the ceiling. The gain falls within the look-ahead and returns exponentially to
/// unity. At a gain of unity, the output is the delayed input, bit for bit.
///
/// The output does not depend on the number of frames per call. Samples that are not finite, or
/// whose magnitude exceeds 1e9, count as 0.
///
/// ## Threading
/// Call the methods from one thread at a time; they are wait-free.
public struct TruePeakLimiter: ~Copyable, @unchecked Sendable {
  /// The constant delay, in frames: 48 frames plus 1 ms, but at least 80 frames.
  public let latencyFrames: Int
  /// The size of a saved state, in bytes.
  public let stateByteCount: Int

  /// The largest value in each of the five cells of a context.
  private struct CellMaxima {
    var values: (Float, Float, Float, Float, Float) = (0, 0, 0, 0, 0)

    /// Replaces the oldest value with the newest, and returns the largest value of the context.
    @_noLocks
    mutating func take(_ newest: Float) -> Float {
      values = (newest, values.0, values.1, values.2, values.3)
      return max(newest, max(max(values.1, values.2), max(values.3, values.4)))
    }
  }

  private struct State {
    var gain = LimiterGain.State()
    var fill = 0
    var historyEnd = 0
    var leftNyquist: Float = 0
    var rightNyquist: Float = 0
    /// The largest sample magnitudes of the last five cells.
    var peaks = CellMaxima()
    /// The largest magnitudes of the second differences in the last five cells.
    var bends = CellMaxima()
  }

  private let cell = TruePeakInterpolator.cellFrames
  private let largestSample: Float = 1e9
  /// The share of the amplitude near half the sample rate that is added to every estimate. The
  /// value comes from experiments with white noise of uniform, Gaussian and two-valued samples.
  private let nyquistShare: Float = 0.16

  private let interpolator = TruePeakInterpolator()
  private let nyquistBand = NyquistBandDetector()
  private let gain: LimiterGain
  private let target: Float
  private let nyquistDecay: Float
  /// If no sample of a context has a larger magnitude, no estimate from this context alone can
  /// exceed the target.
  private let harmlessPeak: Float
  private let historySpan: Int
  private let historyCapacity: Int

  private let memory: UnsafeMutableRawPointer
  private let state: UnsafeMutablePointer<State>
  private let gainValues: UnsafeMutablePointer<Int64>
  /// The input and output of the current cell, 2 channels x 16 frames.
  private let exchange: UnsafeMutablePointer<Float>
  private let leftHistory: UnsafeMutablePointer<Float>
  private let rightHistory: UnsafeMutablePointer<Float>
  /// The estimated peak of each frame of a cell.
  private let peaks: UnsafeMutablePointer<Float>

  /// Creates a limiter.
  ///
  /// - Parameters:
  ///   - sampleRate: the sample rate, 8,000 to 384,000 Hz.
  ///   - ceilingDecibels: the largest true peak, -60 to 0 dBTP.
  ///   - releaseMilliseconds: the time constant of the return to unity, 10 to 1,000 ms.
  public init(
    sampleRate: Double, ceilingDecibels: Double = -1, releaseMilliseconds: Double = 100
  ) {
    precondition(8_000...384_000 ~= sampleRate, "the sample rate must be from 8 to 384 kHz")
    precondition(-60...0 ~= ceilingDecibels, "the ceiling must be from -60 to 0 dBTP")
    precondition(10...1_000 ~= releaseMilliseconds, "the release must be from 10 to 1000 ms")
    let lookAhead = max(32, Int((sampleRate * 0.001).rounded()))
    let releaseFrames = sampleRate * releaseMilliseconds / 1_000
    gain = LimiterGain(lookAheadFrames: lookAhead, releaseFrames: releaseFrames)
    latencyFrames = 3 * cell + lookAhead
    target = Float(realtime_exp((ceilingDecibels - 0.05) / 20 * 2.302585092994046))
    nyquistDecay = Float(realtime_exp(-Double(cell) / releaseFrames))
    harmlessPeak =
      target
      / (interpolator.worstCaseGain + nyquistShare * nyquistBand.worstCaseGain)

    let cells =
      (max(TruePeakInterpolator.contextFrames, latencyFrames) + cell - 1)
      / cell
    historySpan = cells * cell
    historyCapacity = 4 * historySpan
    let valuesOffset = (MemoryLayout<State>.size + 15) & ~15
    let floatsOffset = valuesOffset + gain.valueCount * MemoryLayout<Int64>.stride
    let floats = 2 * cell + 2 * historyCapacity
    stateByteCount = floatsOffset + floats * MemoryLayout<Float>.stride
    memory = .allocate(byteCount: stateByteCount, alignment: 64)
    state = memory.bindMemory(to: State.self, capacity: 1)
    gainValues = (memory + valuesOffset).bindMemory(to: Int64.self, capacity: gain.valueCount)
    exchange = (memory + floatsOffset).bindMemory(to: Float.self, capacity: floats)
    leftHistory = exchange + 2 * cell
    rightHistory = leftHistory + historyCapacity
    peaks = .allocate(capacity: cell)
    peaks.initialize(repeating: 0, count: cell)
    reset()
  }

  deinit {
    interpolator.deallocate()
    nyquistBand.deallocate()
    memory.deallocate()
    peaks.deallocate()
  }

  /// Forgets all previous input. The next `latencyFrames` output frames are silent.
  public func reset() {
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: stateByteCount)
    state.initialize(to: State())
    state.pointee.historyEnd = historySpan
    gain.reset(&state.pointee.gain, gainValues)
  }

  /// Copies the complete state.
  ///
  /// - Parameter destination: at least `stateByteCount` bytes.
  @_noLocks
  public func saveState(into destination: UnsafeMutableRawPointer) {
    destination.copyMemory(from: memory, byteCount: stateByteCount)
  }

  /// Restores a state saved by a limiter with the same settings.
  @_noLocks
  public func restoreState(from source: UnsafeRawPointer) {
    memory.copyMemory(from: source, byteCount: stateByteCount)
  }

  /// Limits in place; the output is `latencyFrames` behind the input.
  ///
  /// - Parameters:
  ///   - left: `frames` samples with full scale 1.0.
  ///   - right: `frames` samples.
  ///   - frames: the number of frames.
  @_noLocks
  public func process(
    _ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>, frames: Int
  ) {
    var done = 0
    while done < frames {
      let fill = state.pointee.fill
      let count = min(cell - fill, frames - done)
      swapFrames(left + done, exchange + fill, count)
      swapFrames(right + done, exchange + cell + fill, count)
      done += count
      state.pointee.fill = fill + count
      if fill + count == cell {
        processCell()
        state.pointee.fill = 0
      }
    }
  }

  @_noLocks
  private func processCell() {
    let cellMaxima = store()
    let peak = state.pointee.peaks.take(cellMaxima.peak)
    let bend = state.pointee.bends.take(cellMaxima.bend)
    state.pointee.leftNyquist = decayed(state.pointee.leftNyquist)
    state.pointee.rightNyquist = decayed(state.pointee.rightNyquist)

    var harmless = true
    if peak > harmlessPeak {
      harmless = !measure(bound: interpolator.bound(peak: peak, bend: bend))
    }
    let source = state.pointee.historyEnd - latencyFrames
    if harmless, gain.isSettled(&state.pointee.gain) {
      copyFrames(leftHistory + source, exchange, cell)
      copyFrames(rightHistory + source, exchange + cell, cell)
      return
    }
    for i in 0..<cell {
      let estimate = harmless ? 0 : peaks[i]
      let required =
        estimate > target ? Int64(target / estimate * Float(LimiterGain.unity)) : LimiterGain.unity
      let factor = gain.next(required, &state.pointee.gain, gainValues)
      exchange[i] = leftHistory[source + i] * factor
      exchange[cell + i] = rightHistory[source + i] * factor
    }
  }

  /// Appends the cell in `exchange` to the histories. Returns the largest magnitudes of its
  /// samples and of its second differences.
  @_noLocks
  private func store() -> (peak: Float, bend: Float) {
    if state.pointee.historyEnd == historyCapacity {
      let kept = historyCapacity - historySpan
      copyFrames(leftHistory + kept, leftHistory, historySpan)
      copyFrames(rightHistory + kept, rightHistory, historySpan)
      state.pointee.historyEnd = historySpan
    }
    let end = state.pointee.historyEnd
    state.pointee.historyEnd = end + cell
    let left = keep(exchange, leftHistory + end)
    let right = keep(exchange + cell, rightHistory + end)
    return (max(left.peak, right.peak), max(left.bend, right.bend))
  }

  /// Appends one channel's cell to its history. Sets invalid samples to 0.
  ///
  /// - Returns: the largest magnitudes of the samples and of the second differences. The second
  ///   difference for sample n is centred on sample n - 1.
  @_noLocks
  private func keep(
    _ samples: UnsafePointer<Float>, _ history: UnsafeMutablePointer<Float>
  ) -> (peak: Float, bend: Float) {
    let raw = UnsafeRawPointer(samples).loadUnaligned(as: SIMD16<Float>.self)
    // A comparison with NaN is false, so NaN becomes 0.
    let isSound = magnitude(raw) .<= largestSample
    let clean = SIMD16<Float>().replacing(with: raw, where: isSound)
    UnsafeMutableRawPointer(history).storeBytes(of: clean, as: SIMD16<Float>.self)
    let before = UnsafeRawPointer(history)
    let one = before.loadUnaligned(fromByteOffset: -4, as: SIMD16<Float>.self)
    let two = before.loadUnaligned(fromByteOffset: -8, as: SIMD16<Float>.self)
    return (largest(of: magnitude(clean)), largest(of: magnitude(two - 2 * one + clean)))
  }

  @_noLocks
  @inline(__always)
  private func largest(of values: SIMD16<Float>) -> Float {
    let eight = pointwiseMax(values.lowHalf, values.highHalf)
    let four = pointwiseMax(eight.lowHalf, eight.highHalf)
    let two = pointwiseMax(four.lowHalf, four.highHalf)
    return max(two[0], two[1])
  }

  @_noLocks
  @inline(__always)
  private func magnitude(_ values: SIMD16<Float>) -> SIMD16<Float> {
    let bits = unsafeBitCast(values, to: SIMD16<UInt32>.self) & 0x7fff_ffff
    return unsafeBitCast(bits, to: SIMD16<Float>.self)
  }

  @_noLocks
  private func decayed(_ amplitude: Float) -> Float {
    let next = amplitude * nyquistDecay
    return next > 1e-6 ? next : 0
  }

  /// Estimates `peaks` for the third newest cell. Returns whether any estimate is above the target.
  ///
  /// - Parameter bound: an upper bound on the estimates before the margin for `nyquistShare` is
  ///   added.
  @_noLocks
  private func measure(bound: Float) -> Bool {
    for i in 0..<cell { peaks[i] = 0 }
    state.pointee.leftNyquist = measure(leftHistory, state.pointee.leftNyquist, bound)
    state.pointee.rightNyquist = measure(rightHistory, state.pointee.rightNyquist, bound)
    var largest: Float = 0
    for i in 0..<cell { largest = max(largest, peaks[i]) }
    return largest > target
  }

  /// Raises `peaks` to the estimates for one channel, except those that cannot exceed the target.
  /// Returns the larger of `nyquist` and the newest amplitude near half the sample rate.
  @_noLocks
  private func measure(
    _ history: UnsafePointer<Float>, _ nyquist: Float, _ bound: Float
  ) -> Float {
    let end = history + state.pointee.historyEnd
    let held = max(nyquist, nyquistBand.amplitude(end - NyquistBandDetector.frames))
    if bound + nyquistShare * held <= target { return held }
    interpolator.measure(
      end - TruePeakInterpolator.contextFrames, raising: peaks, above: target,
      margin: nyquistShare * held)
    return held
  }
}
