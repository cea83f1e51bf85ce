// SPDX-License-Identifier: Apache-2.0

/// Convolves several inputs with two filters each and sums them into two ears, without latency.
///
/// Uniformly partitioned overlap-save in the frequency domain (Wefers, Partitioned Convolution
/// Algorithms for Real-Time Auralization, 2015, chapter 5). The newest partition is transformed
/// again with every call that does not end on its border, so that a frame comes out in the
/// call that brings it, whatever the size of the calls.
///
/// ## Threading
/// One caller at a time. `process` does not allocate, lock or wait.
public struct PartitionedConvolver: ~Copyable, @unchecked Sendable {
  public let inputs: Int
  public let taps: Int
  /// Frames of one partition, a power of two.
  public let partition: Int

  private let lanes: Int
  private let bins: Int
  private let partitions: Int
  private let fft: RealFFT
  /// Left is its real part, right its imaginary part.
  private let earFFT: ComplexFFT
  private let filterSpectra: AlignedFloats
  private let segment: AlignedFloats
  private let spectra: AlignedFloats
  private let tail: AlignedFloats
  private let sums: AlignedFloats
  private let state: UnsafeMutablePointer<State>

  private struct State {
    /// Frames of the newest partition that are there.
    var fill = 0
    /// Where the newest partition's spectrum lies in the ring.
    var newest = 0
    /// Whether `tail` holds the sum of the older partitions.
    var hasTail = false

    @_noLocks init() {}
  }

  /// - Parameters:
  ///   - left: inputs x taps.
  ///   - right: inputs x taps.
  ///   - partition: frames of a partition, a power of two from 16.
  public init(left: [[Float]], right: [[Float]], partition: Int) {
    precondition(!left.isEmpty && left.count == right.count)
    precondition(partition >= 16 && partition & (partition - 1) == 0)
    inputs = left.count
    taps = (left + right).map(\.count).max() ?? 0
    self.partition = partition
    lanes = (left.count + 3) / 4 * 4
    bins = partition + 1
    partitions = max(1, (taps + partition - 1) / partition)
    fft = RealFFT(size: 2 * partition, batch: lanes)
    earFFT = ComplexFFT(size: 2 * partition, batch: 1)
    filterSpectra = AlignedFloats(count: bins * partitions * lanes * 4)
    segment = AlignedFloats(count: 2 * partition * lanes)
    spectra = AlignedFloats(count: partitions * bins * lanes * 2)
    tail = AlignedFloats(count: bins * 4)
    sums = AlignedFloats(count: bins * 4)
    state = .allocate(capacity: 1)
    state.initialize(to: State())
    for (ear, filters) in [left, right].enumerated() { transform(filters, ear: ear) }
  }

  deinit { state.deallocate() }

  /// Spectra of all partitions; for bin k, partition p and four inputs: left re, im, right re, im.
  private func transform(_ filters: [[Float]], ear: Int) {
    let time = AlignedFloats(count: 2 * partition * lanes)
    let re = AlignedFloats(count: bins * lanes)
    let im = AlignedFloats(count: bins * lanes)
    for p in 0..<partitions {
      time.clear()
      for (input, filter) in filters.enumerated() {
        for n in 0..<partition where p * partition + n < filter.count {
          time.pointer[n * lanes + input] = filter[p * partition + n]
        }
      }
      fft.forward(time.pointer, real: re.pointer, imaginary: im.pointer)
      for k in 0..<bins {
        for input in 0..<lanes {
          let quad = ((k * partitions + p) * lanes / 4 + input / 4) * 16 + ear * 8 + input % 4
          filterSpectra.pointer[quad] = re.pointer[k * lanes + input]
          filterSpectra.pointer[quad + 4] = im.pointer[k * lanes + input]
        }
      }
    }
  }

  /// Forgets what has been played.
  @_noLocks
  public func reset() {
    segment.clear()
    spectra.clear()
    state.pointee = State()
  }

  /// Frames until the newest partition is full: calls that end there are the cheapest.
  public var framesToBorder: Int {
    @_noLocks get { partition - state.pointee.fill }
  }

  /// Filters the next frames.
  ///
  /// - Parameters:
  ///   - input: inputs x frames, one input after the other `stride` floats apart.
  ///   - stride: floats from the start of one input to that of the next.
  ///   - frames: at most `framesToBorder`.
  ///   - left: receives `frames` samples.
  ///   - right: receives `frames` samples.
  @_noLocks
  public func process(
    input: UnsafePointer<Float>, stride: Int, frames: Int, left: UnsafeMutablePointer<Float>,
    right: UnsafeMutablePointer<Float>
  ) {
    let fill = state.pointee.fill
    interleave(input, stride, frames, into: segment.pointer + (partition + fill) * lanes)
    let size = bins * lanes
    let re = spectra.pointer + state.pointee.newest * 2 * size
    fft.forward(segment.pointer, real: re, imaginary: re + size)
    if fill == 0 && frames == partition {
      accumulate(from: 0, to: partitions, onto: nil, into: sums.pointer)
    } else {
      if !state.pointee.hasTail {
        accumulate(from: 1, to: partitions, onto: nil, into: tail.pointer)
        state.pointee.hasTail = true
      }
      accumulate(from: 0, to: 1, onto: tail.pointer, into: sums.pointer)
    }
    let ears = transformSums()
    let first = partition + fill
    for i in 0..<frames {
      left[i] = ears.left[first + i]
      right[i] = ears.right[first + i]
    }
    state.pointee.fill = fill + frames
    if state.pointee.fill == partition { beginPartition() }
  }

  @_noLocks
  private func interleave(
    _ input: UnsafePointer<Float>, _ stride: Int, _ frames: Int,
    into rows: UnsafeMutablePointer<Float>
  ) {
    for c in 0..<inputs {
      let source = input + c * stride
      let target = rows + c
      for i in 0..<frames { target[i * lanes] = source[i] }
    }
  }

  @_noLocks
  private func beginPartition() {
    let half = partition * lanes
    let (old, new) = (segment.pointer.vectors4, (segment.pointer + half).vectors4)
    for i in 0..<(half / 4) {
      old[i] = new[i]
      new[i] = Vector4(repeating: 0)
    }
    state.pointee.newest = (state.pointee.newest + 1) % partitions
    state.pointee.fill = 0
    state.pointee.hasTail = false
  }

  /// Both ears back to time in one complex transform: left + i right.
  @_noLocks
  private func transformSums() -> (left: UnsafePointer<Float>, right: UnsafePointer<Float>) {
    let z = earFFT.source()
    let scale = 1 / Float(2 * partition)
    let (re, im) = (sums.pointer, sums.pointer + 2 * bins)
    z.re[0] = re[0] * scale
    z.im[0] = re[1] * scale
    z.re[partition] = re[2 * partition] * scale
    z.im[partition] = re[2 * partition + 1] * scale
    for k in 1..<partition {
      let (lr, rr) = (re[2 * k] * scale, re[2 * k + 1] * scale)
      let (li, ri) = (im[2 * k] * scale, im[2 * k + 1] * scale)
      z.re[k] = lr - ri
      z.im[k] = li + rr
      z.re[2 * partition - k] = lr + ri
      z.im[2 * partition - k] = rr - li
    }
    // The parts are exchanged for the inverse, and come out exchanged.
    let result = earFFT.transform(StageSource(re: z.im, im: z.re, rowStride: 1))
    return (UnsafePointer(result.im), UnsafePointer(result.re))
  }

  /// Sums partitions `first` to `last` over all inputs: bins x (left, right), real then imaginary.
  @_noLocks
  private func accumulate(
    from first: Int, to last: Int, onto start: UnsafePointer<Float>?,
    into result: UnsafeMutablePointer<Float>
  ) {
    // The ring is read backwards from the newest partition, in two straight runs.
    let newest = state.pointee.newest
    let straight = min(last, newest + 1)
    let (re, im) = (result, result + 2 * bins)
    for k in 0..<bins {
      var sum = EarSum()
      add(bin: k, from: first, to: straight, slot: newest - first, &sum)
      let wrapped = max(first, straight)
      add(bin: k, from: wrapped, to: last, slot: newest - wrapped + partitions, &sum)
      let at = 2 * k
      re[at] = total(sum.leftR)
      re[at + 1] = total(sum.rightR)
      im[at] = total(sum.leftI)
      im[at + 1] = total(sum.rightI)
      if let start {
        re[at] += start[at]
        re[at + 1] += start[at + 1]
        im[at] += start[2 * bins + at]
        im[at + 1] += start[2 * bins + at + 1]
      }
    }
  }

  @_noLocks
  @inline(__always)
  private func add(
    bin k: Int, from first: Int, to last: Int, slot: Int, _ sum: inout EarSum
  ) {
    let quads = lanes / 4
    let imaginary = bins * quads
    var x = spectra.pointer.vectors4 + (slot * 2 * bins + k) * quads
    var h = filterSpectra.pointer.vectors4 + (k * partitions + first) * lanes
    for _ in stride(from: first, to: last, by: 1) {
      for q in 0..<quads {
        let (xr, xi) = (x[q], x[imaginary + q])
        let f = h + 4 * q
        sum.leftR += xr * f[0] - xi * f[1]
        sum.leftI += xr * f[1] + xi * f[0]
        sum.rightR += xr * f[2] - xi * f[3]
        sum.rightI += xr * f[3] + xi * f[2]
      }
      x -= 2 * imaginary
      h += lanes
    }
  }
}

/// Four inputs' share of a bin, ear by ear.
private struct EarSum {
  var leftR = Vector4(repeating: 0)
  var leftI = Vector4(repeating: 0)
  var rightR = Vector4(repeating: 0)
  var rightI = Vector4(repeating: 0)

  @_noLocks
  @inline(__always)
  init() {}
}

@_noLocks
@inline(__always)
private func total(_ v: Vector4) -> Float { (v[0] + v[1]) + (v[2] + v[3]) }
