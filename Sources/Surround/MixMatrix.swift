// SPDX-License-Identifier: Apache-2.0

/// A sparse matrix of gains from input channels to output channels.
///
/// ## Threading
/// Several threads may call `mix` if their outputs share no memory. `mix` does not allocate, lock
/// or wait.
public struct MixMatrix: ~Copyable, @unchecked Sendable {
  public let inputs: Int
  public let outputs: Int

  private struct Term {
    let input: Int
    let gain: Float
  }

  private let terms: UnsafeMutablePointer<Term>
  private let starts: UnsafeMutablePointer<Int>

  /// Creates a matrix.
  ///
  /// - Parameters:
  ///   - gains: outputs x inputs.
  ///   - inputs: the length of each row of `gains`.
  public init(gains: [[Double]], inputs: Int) {
    self.inputs = inputs
    outputs = gains.count
    let count = gains.reduce(0) { $0 + $1.filter { $0 != 0 }.count }
    terms = .allocate(capacity: max(1, count))
    starts = .allocate(capacity: gains.count + 1)
    var at = 0
    for (output, row) in gains.enumerated() {
      (starts + output).initialize(to: at)
      for (input, gain) in row.enumerated() where gain != 0 {
        (terms + at).initialize(to: Term(input: input, gain: Float(gain)))
        at += 1
      }
    }
    (starts + gains.count).initialize(to: at)
  }

  deinit {
    terms.deallocate()
    starts.deallocate()
  }

  /// Whether all gains are zero.
  public var isSilent: Bool {
    @_noLocks get { starts[outputs] == 0 }
  }

  /// Mixes the inputs to the outputs.
  ///
  /// - Parameters:
  ///   - input: inputs x frames.
  ///   - output: outputs x frames, overwritten. It must not share memory with `input`.
  @_noLocks
  public func mix(
    _ input: UnsafePointer<UnsafeMutablePointer<Float>>,
    into output: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) {
    for o in 0..<outputs {
      let target = output[o]
      let (first, last) = (starts[o], starts[o + 1])
      if first == last {
        for i in 0..<frames { target[i] = 0 }
        continue
      }
      let (source, gain) = (input[terms[first].input], terms[first].gain)
      for i in 0..<frames { target[i] = source[i] * gain }
      for t in stride(from: first + 1, to: last, by: 1) {
        let (source, gain) = (input[terms[t].input], terms[t].gain)
        for i in 0..<frames { target[i] += source[i] * gain }
      }
    }
  }
}
