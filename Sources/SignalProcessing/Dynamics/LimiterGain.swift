// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

/// Converts the gain that each frame requires into a smooth gain that does not exceed it.
///
/// The steps are a minimum over the last `window` frames, an exponential release, and two moving
/// averages. Together, the averages span `lookAheadFrames`. The gain for frame n does not exceed
/// the gains that frames n - 1, n and n + 1 require. Gains are integers in units of 2^-30, so
/// running sums stay exact.
struct LimiterGain {
  static var unity: Int64 { @_noLocks get { 1 << 30 } }

  struct State {
    var position = 0
    var prefixMinimum = LimiterGain.unity
    var envelope = LimiterGain.unity
    var unityFrames = 0
    var firstSum: Int64 = 0
    var secondSum: Int64 = 0
    var firstIndex = 0
    var secondIndex = 0
  }

  let lookAheadFrames: Int
  private let window: Int
  private let firstLength: Int
  private let secondLength: Int
  private let releaseFactor: Int64
  private let scale: Double

  /// `releaseFrames` is the time constant of the release, in frames.
  init(lookAheadFrames: Int, releaseFrames: Double) {
    self.lookAheadFrames = lookAheadFrames
    window = lookAheadFrames + 2
    firstLength = (lookAheadFrames + 1) / 2
    secondLength = lookAheadFrames + 1 - firstLength
    releaseFactor = Int64((1 - realtime_exp(-1 / releaseFrames)) * 4_294_967_296)
    scale = 1 / (Double(firstLength * secondLength) * Double(Self.unity))
  }

  /// The number of integers in `values`: the newest gains, the minima of the previous window, and
  /// the rings of both averages.
  var valueCount: Int { window + window + 1 + firstLength + secondLength }

  func reset(_ state: UnsafeMutablePointer<State>, _ values: UnsafeMutablePointer<Int64>) {
    state.pointee = State()
    state.pointee.unityFrames = settledFrames
    state.pointee.firstSum = Int64(firstLength) * Self.unity
    state.pointee.secondSum = Int64(firstLength * secondLength) * Self.unity
    for i in 0..<(2 * window + 1 + firstLength) { values[i] = Self.unity }
    for i in 0..<secondLength { values[2 * window + 1 + firstLength + i] = state.pointee.firstSum }
  }

  /// The number of consecutive frames with an envelope of unity after which earlier frames have no
  /// effect on the gain.
  private var settledFrames: Int {
    @_noLocks get { 2 * window + lookAheadFrames + 2 }
  }

  /// Returns whether frames that require unity can be skipped without effect on later gains.
  @_noLocks
  func isSettled(_ state: UnsafeMutablePointer<State>) -> Bool {
    state.pointee.unityFrames >= settledFrames
  }

  /// Takes the gain that the newest frame requires, 0 to `unity`. Returns the linear gain, 0 to 1,
  /// for the frame `lookAheadFrames` earlier.
  @_noLocks
  func next(
    _ required: Int64, _ state: UnsafeMutablePointer<State>, _ values: UnsafeMutablePointer<Int64>
  ) -> Float {
    let envelope = release(towards: minimum(required, state, values), state)
    let firstRing = values + 2 * window + 1
    state.pointee.firstSum += envelope - firstRing[state.pointee.firstIndex]
    firstRing[state.pointee.firstIndex] = envelope
    state.pointee.firstIndex = following(state.pointee.firstIndex, firstLength)

    let secondRing = firstRing + firstLength
    let first = state.pointee.firstSum
    state.pointee.secondSum += first - secondRing[state.pointee.secondIndex]
    secondRing[state.pointee.secondIndex] = first
    state.pointee.secondIndex = following(state.pointee.secondIndex, secondLength)
    return Float(Double(state.pointee.secondSum) * scale)
  }

  @_noLocks
  private func following(_ index: Int, _ length: Int) -> Int {
    index + 1 == length ? 0 : index + 1
  }

  /// Takes the newest gain and returns the minimum of the last `window` gains (van Herk 1992; Gil
  /// and Werman 1993).
  @_noLocks
  private func minimum(
    _ required: Int64, _ state: UnsafeMutablePointer<State>, _ values: UnsafeMutablePointer<Int64>
  ) -> Int64 {
    let suffix = values + window
    let position = state.pointee.position
    values[position] = required
    let prefix = min(state.pointee.prefixMinimum, required)
    let result = min(prefix, suffix[position + 1])
    state.pointee.prefixMinimum = prefix
    state.pointee.position = position + 1
    if position + 1 == window {
      var smallest = Self.unity
      suffix[window] = smallest
      for i in stride(from: window - 1, through: 0, by: -1) {
        smallest = min(smallest, values[i])
        suffix[i] = smallest
      }
      state.pointee.position = 0
      state.pointee.prefixMinimum = Self.unity
    }
    return result
  }

  @_noLocks
  private func release(towards target: Int64, _ state: UnsafeMutablePointer<State>) -> Int64 {
    var envelope = state.pointee.envelope
    if target <= envelope {
      envelope = target
    } else {
      envelope += max(1, ((target - envelope) * releaseFactor) >> 32)
    }
    state.pointee.envelope = envelope
    state.pointee.unityFrames =
      envelope == Self.unity ? min(state.pointee.unityFrames + 1, settledFrames) : 0
    return envelope
  }
}
