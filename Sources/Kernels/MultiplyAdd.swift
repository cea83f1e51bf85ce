// SPDX-License-Identifier: Apache-2.0

/// Runs multiply-adds in twelve independent chains, to reach the processor's peak rate.
///
/// - Parameters:
///   - values: 14 vectors: a factor, a summand, then the twelve chains, which are updated.
///   - rounds: the number of steps of each chain.
/// - Returns: the number of floating-point operations performed.
@_noLocks
@inline(never)
public func multiplyAndAdd(_ values: UnsafeMutablePointer<Float>, rounds: Int) -> Int {
  let (factor, summand) = (load(values), load(values + width))
  let first = values + 2 * width
  var (a, b, c) = (load(first), load(first + width), load(first + 2 * width))
  var (d, e, f) = (load(first + 3 * width), load(first + 4 * width), load(first + 5 * width))
  var (g, h, i) = (load(first + 6 * width), load(first + 7 * width), load(first + 8 * width))
  var (j, k, l) = (load(first + 9 * width), load(first + 10 * width), load(first + 11 * width))
  for _ in 0..<rounds {
    a = fused(a, factor, summand)
    b = fused(b, factor, summand)
    c = fused(c, factor, summand)
    d = fused(d, factor, summand)
    e = fused(e, factor, summand)
    f = fused(f, factor, summand)
    g = fused(g, factor, summand)
    h = fused(h, factor, summand)
    i = fused(i, factor, summand)
    j = fused(j, factor, summand)
    k = fused(k, factor, summand)
    l = fused(l, factor, summand)
  }
  store(a, first)
  store(b, first + width)
  store(c, first + 2 * width)
  store(d, first + 3 * width)
  store(e, first + 4 * width)
  store(f, first + 5 * width)
  store(g, first + 6 * width)
  store(h, first + 7 * width)
  store(i, first + 8 * width)
  store(j, first + 9 * width)
  store(k, first + 10 * width)
  store(l, first + 11 * width)
  return 24 * width * rounds
}
