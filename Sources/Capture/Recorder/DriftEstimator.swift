// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// Estimates the drift of a source's clock against CLOCK_MONOTONIC.
///
/// A frame can arrive late but never early. Therefore, a line is fitted by least squares to the
/// least lateness of each second. The drift is the negative of the line's slope. After an
/// interruption, the line has another offset but the same slope.
struct DriftEstimator {
  /// How many seconds at the start of each uninterrupted piece are ignored, because buffers are
  /// still filling.
  private static let settlingSeconds = 2.0
  /// The least duration of a single uninterrupted piece from which the drift can be estimated [s].
  private static let leastSeconds = 10.0

  // In each second, x is the nominal time of the least lateness, and y is that lateness [s].
  // `sumXX` is the sum of (x - mean x)^2, and `sumXY` is the sum of (x - mean x)(y - mean y). Each
  // finished piece contributes to the sums with its own means.
  private var sumXX = 0.0
  private var sumXY = 0.0
  private var piece = Piece()

  private struct Piece {
    var count = 0.0
    var meanX = 0.0
    var meanY = 0.0
    var sumXX = 0.0
    var sumXY = 0.0
    var bucket = -1
    var bucketX = 0.0
    var bucketY = 0.0
    var start: Double?

    mutating func close() {
      guard bucket >= 0 else { return }
      count += 1
      let dx = bucketX - meanX
      meanX += dx / count
      meanY += (bucketY - meanY) / count
      sumXX += dx * (bucketX - meanX)
      sumXY += dx * (bucketY - meanY)
      bucket = -1
    }
  }

  mutating func breakOff() {
    piece.close()
    sumXX += piece.sumXX
    sumXY += piece.sumXY
    piece = Piece()
  }

  /// Adds the arrival of a block.
  ///
  /// - Parameters:
  ///   - seconds: the number of frames up to the end of the block, divided by the nominal rate.
  ///   - lateness: the arrival time minus `seconds` [s].
  mutating func add(seconds: Double, lateness: Double) {
    let start = piece.start ?? seconds
    piece.start = start
    guard seconds - start >= Self.settlingSeconds else { return }
    let bucket = Int(seconds - start)
    if bucket != piece.bucket {
      piece.close()
      piece.bucket = bucket
      (piece.bucketX, piece.bucketY) = (seconds, lateness)
    } else if lateness < piece.bucketY {
      (piece.bucketX, piece.bucketY) = (seconds, lateness)
    }
  }

  /// The drift in parts per million, positive if the source's clock is fast; nil if there is not
  /// enough sound.
  var partsPerMillion: Double? {
    var all = self
    all.breakOff()
    // For n points, one second apart, the sum of (x - mean x)^2 is about n^3 / 12.
    guard all.sumXX >= pow(Self.leastSeconds - Self.settlingSeconds, 3) / 12 else { return nil }
    return -all.sumXY / all.sumXX * 1e6
  }
}
