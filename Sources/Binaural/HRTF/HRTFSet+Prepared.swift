// SPDX-License-Identifier: Apache-2.0

extension HRTFSet {
  /// Returns the set resampled to the playback rate with its delays applied, so that all `delays`
  /// are zero.
  ///
  /// The time axis and the transfer functions are preserved, so the sample values are halved at
  /// twice the rate. Sound before t = 0 is cut off: ringing, and the start of responses with
  /// negative delays. Resampling and fractional delays use a Kaiser-windowed sinc (beta 12, 32 zero
  /// crossings on each side). The passband extends to 0.88 times the lower of the two Nyquist
  /// frequencies, and components above 1.12 times that frequency are attenuated by more than
  /// 100 dB.
  ///
  /// If the resampled responses would exceed `HRTFLimit.preparedSamples`, some directions are left
  /// out.
  ///
  /// - Parameter newRate: the playback rate, 8000 to 384000 Hz.
  public func prepared(sampleRate newRate: Double) -> HRTFSet {
    precondition(
      (8_000...384_000).contains(newRate),
      "the sample rate of \(newRate) Hz is outside the range of 8 to 384 kHz")
    let wholeDelays = delays.allSatisfy { $0 >= 0 && $0 == $0.rounded() }
    if newRate == sampleRate && wholeDelays { return shifted() }
    let ratio = newRate / sampleRate
    let kernel = SincKernel(cutoff: min(1, ratio))
    let last = Double(taps - 1) + (delays.max() ?? 0) + Double(kernel.reach)
    let newTaps = Int((last * ratio).rounded(.up)) + 1
    let most = HRTFLimit.preparedSamples / (2 * newTaps)
    guard directions.count <= most else {
      return thinned(to: most).prepared(sampleRate: newRate)
    }
    var result = self
    result.sampleRate = newRate
    result.taps = newTaps
    result.delays = [Double](repeating: 0, count: delays.count)
    result.impulseResponses = [Float](
      unsafeUninitializedCapacity: delays.count * newTaps
    ) { target, initialized in
      impulseResponses.withUnsafeBufferPointer { source in
        for (index, delay) in delays.enumerated() {
          kernel.resample(
            UnsafeBufferPointer(rebasing: source[index * taps..<(index + 1) * taps]),
            into: UnsafeMutableBufferPointer(
              rebasing: target[index * newTaps..<(index + 1) * newTaps]),
            step: 1 / ratio, delay: delay)
        }
      }
      initialized = delays.count * newTaps
    }
    return result
  }

  /// Returns the set with its delays applied. The delays must be non-negative integers.
  private func shifted() -> HRTFSet {
    guard delays.contains(where: { $0 != 0 }) else { return self }
    var result = self
    result.taps = taps + Int(delays.max() ?? 0)
    result.delays = [Double](repeating: 0, count: delays.count)
    result.impulseResponses = [Float](repeating: 0, count: delays.count * result.taps)
    for (index, delay) in delays.enumerated() {
      let start = index * result.taps + Int(delay)
      result.impulseResponses.replaceSubrange(
        start..<start + taps, with: impulseResponses[index * taps..<(index + 1) * taps])
    }
    return result
  }
}
