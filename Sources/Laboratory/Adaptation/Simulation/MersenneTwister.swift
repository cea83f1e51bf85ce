// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The generator MT19937 (Matsumoto and Nishimura, 1998), with some of the distributions of
/// Python's `random` module. The same seed gives the same numbers as in Python, so that scripts
/// outside this package can produce the same traces.
struct MersenneTwister {
  private static let size = 624
  private static let offset = 397

  private var state: [UInt32]
  private var index = size
  /// A normal deviate that `gaussian` has computed but not returned yet; nil if there is none.
  private var spare: Double?

  /// Initialises the state from a seed, as `init_by_array` of the reference implementation does.
  init(_ seed: UInt32) {
    state = [19_650_218]
    for index in 1..<Self.size {
      let last = state[index - 1]
      state.append(1_812_433_253 &* (last ^ last >> 30) &+ UInt32(index))
    }
    var place = 1
    func advance(_ place: inout Int, _ state: inout [UInt32]) {
      place += 1
      guard place == Self.size else { return }
      state[0] = state[Self.size - 1]
      place = 1
    }
    for _ in 0..<Self.size {
      let last = state[place - 1]
      state[place] = (state[place] ^ (last ^ last >> 30) &* 1_664_525) &+ seed
      advance(&place, &state)
    }
    for _ in 1..<Self.size {
      let last = state[place - 1]
      state[place] = (state[place] ^ (last ^ last >> 30) &* 1_566_083_941) &- UInt32(place)
      advance(&place, &state)
    }
    state[0] = 0x8000_0000
  }

  private mutating func twist() {
    for index in 0..<Self.size {
      let bits =
        state[index] & 0x8000_0000 | state[(index + 1) % Self.size] & 0x7FFF_FFFF
      state[index] =
        state[(index + Self.offset) % Self.size] ^ bits >> 1 ^ (bits & 1 == 1 ? 0x9908_B0DF : 0)
    }
    index = 0
  }

  /// Returns 32 random bits.
  mutating func next() -> UInt32 {
    if index == Self.size { twist() }
    var bits = state[index]
    index += 1
    bits ^= bits >> 11
    bits ^= bits << 7 & 0x9D2C_5680
    bits ^= bits << 15 & 0xEFC6_0000
    return bits ^ bits >> 18
  }

  /// Returns a number in 0..<1, with 53 random bits.
  mutating func uniform() -> Double {
    let (high, low) = (next() >> 5, next() >> 6)
    return (Double(high) * 67_108_864 + Double(low)) / 9_007_199_254_740_992
  }

  mutating func uniform(_ range: ClosedRange<Double>) -> Double {
    range.lowerBound + (range.upperBound - range.lowerBound) * uniform()
  }

  mutating func integer(_ range: ClosedRange<Int>) -> Int {
    let count = UInt32(range.count)
    let shift = count.leadingZeroBitCount
    var value = next() >> shift
    while value >= count { value = next() >> shift }
    return range.lowerBound + Int(value)
  }

  /// Returns a normal deviate by the method of Box and Muller, as Python's `gauss` does.
  mutating func gaussian() -> Double {
    if let spare {
      self.spare = nil
      return spare
    }
    let angle = uniform() * 2 * .pi
    let radius = (-2 * log(1 - uniform())).squareRoot()
    spare = sin(angle) * radius
    return cos(angle) * radius
  }

  /// Returns a normal deviate by the method of Kinderman and Monahan, as Python's `normalvariate`
  /// does.
  mutating func normal() -> Double {
    while true {
      let first = uniform()
      let second = 1 - uniform()
      let value = 4 * exp(-0.5) / 2.0.squareRoot() * (first - 0.5) / second
      if value * value / 4 <= -log(second) { return value }
    }
  }
}
