// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Kernels
internal import KernelsAVX2
internal import KernelsAVX512

extension InstructionSet {
  /// Measures the peak rate of single-precision arithmetic on one core, with operands in registers.
  /// Returns multiplications and additions per second of CPU time: the highest rate of
  /// `repetitions` tests.
  public func measuredPeak(repetitions: Int = 40) -> Double {
    let values = AlignedFloats(count: 14 * 16)
    for i in 0..<(14 * 16) { values.pointer[i] = i < 16 ? 0.999 : 0.001 * Float(1 + i) }
    let best = (0..<repetitions).map { _ in
      let start = Self.processorSeconds
      let operations = multiplyAndAdd(values.pointer, rounds: 500_000)
      return Double(operations) / (Self.processorSeconds - start)
    }
    return best.max() ?? 0
  }

  private func multiplyAndAdd(_ values: UnsafeMutablePointer<Float>, rounds: Int) -> Int {
    switch self {
    case .baseline: Kernels.multiplyAndAdd(values, rounds: rounds)
    case .avx2: KernelsAVX2.multiplyAndAdd(values, rounds: rounds)
    case .avx512: KernelsAVX512.multiplyAndAdd(values, rounds: rounds)
    }
  }

  private static var processorSeconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}
