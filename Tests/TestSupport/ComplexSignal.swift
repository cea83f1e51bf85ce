// SPDX-License-Identifier: Apache-2.0

import CRealtime

/// A complex signal of power-of-two length with a plain radix-2 Fourier transform, for tests.
public final class ComplexSignal {
  public let size: Int
  public let re: UnsafeMutablePointer<Double>
  public let im: UnsafeMutablePointer<Double>

  public init(_ size: Int) {
    precondition(size > 0 && size & (size - 1) == 0)
    self.size = size
    re = .allocate(capacity: size)
    im = .allocate(capacity: size)
    re.initialize(repeating: 0, count: size)
    im.initialize(repeating: 0, count: size)
  }

  deinit {
    re.deallocate()
    im.deallocate()
  }

  /// Transforms the signal in place, without scaling; `sign` is the sign of the exponent.
  public func transform(sign: Double) {
    reorder()
    var length = 2
    while length <= size {
      let half = length / 2
      for k in 0..<half {
        let angle = sign * 2 * Double.pi * Double(k) / Double(length)
        let (c, s) = (realtime_cos(angle), realtime_sin(angle))
        var low = k
        while low < size {
          let high = low + half
          let (xr, xi) = (re[high], im[high])
          let (tr, ti) = (xr * c - xi * s, xr * s + xi * c)
          (re[high], im[high]) = (re[low] - tr, im[low] - ti)
          (re[low], im[low]) = (re[low] + tr, im[low] + ti)
          low += length
        }
      }
      length *= 2
    }
  }

  private func reorder() {
    var j = 0
    for i in 1..<size {
      var bit = size >> 1
      while j & bit != 0 {
        j ^= bit
        bit >>= 1
      }
      j ^= bit
      if i < j {
        (re[i], re[j]) = (re[j], re[i])
        (im[i], im[j]) = (im[j], im[i])
      }
    }
  }
}
