// SPDX-License-Identifier: Apache-2.0

internal import CRealtime
internal import Glibc

/// The instruction sets for which the kernels are compiled.
///
/// The results of different instruction sets differ only by rounding.
public enum InstructionSet: Int, Sendable, CaseIterable, Comparable {
  case baseline
  case avx2
  case avx512

  /// The widest instruction set that this processor supports.
  public static let widest = InstructionSet(rawValue: Int(processor_width_class())) ?? .baseline

  /// The instruction set that the kernels use: the value of the environment variable
  /// `STILLSTAGE_SIMD` (`baseline`, `avx2` or `avx512`), but at most `widest`. Without a valid
  /// value, the kernels use `widest`.
  public static let current: InstructionSet = {
    guard let name = getenv("STILLSTAGE_SIMD").map({ String(cString: $0) }) else { return widest }
    return allCases.first { "\($0)" == name }.map { min($0, widest) } ?? widest
  }()

  public static func < (a: InstructionSet, b: InstructionSet) -> Bool { a.rawValue < b.rawValue }
}
