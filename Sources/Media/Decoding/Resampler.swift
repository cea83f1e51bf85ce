// SPDX-License-Identifier: Apache-2.0

import CFFmpeg
import Glibc

/// Converts the sample rate with libswresample.
///
/// With the sample rates `in` and `out`, output frame `k` has the time of input frame `k * in /
/// out`, and `n` input frames become `ceil(n * out / in)` output frames. The signal is treated as
/// zero before its start and after its end, where libswresample would mirror it.
///
/// The response is flat within 0.04 dB up to 0.94 of the lower Nyquist frequency. If the rate is
/// lowered, the response is below -120 dB from the output's Nyquist frequency upwards. The filter
/// is a Kaiser-windowed sinc (beta 12, about 256 taps at the lower rate).
final class Resampler {
  /// The largest number of channels in one libswresample context; FFmpeg 5.1 rejects more.
  private static let maximumGroup = 64
  /// The binary logarithm of the largest number of filter phases. If more phases are needed,
  /// libswresample interpolates linearly between phases.
  private static let phaseBits: Int64 = 12

  private let ratio: ResamplingRatio
  private let channels: Int
  private var groups: [(first: Int, context: OpaquePointer)] = []
  private var framesIn: Int64 = 0
  private var framesOut: Int64 = 0
  /// The number of output frames still to be dropped; they belong to the zeros before the signal.
  private var toDiscard: Int64
  private let zeros: PlanarQueue

  init(channels: Int, from inRate: Int, to outRate: Int) throws(MediaError) {
    let ratio = ResamplingRatio(from: inRate, to: outRate)
    self.ratio = ratio
    self.channels = channels
    let leadPeriods = (2 * ratio.halfLength + ratio.periodIn - 1) / ratio.periodIn
    toDiscard = leadPeriods * ratio.periodOut
    zeros = PlanarQueue(channels: channels)
    zeros.appendSilence(2048)
    let isExact = ratio.periodOut <= 1 << Self.phaseBits
    for first in stride(from: 0, to: channels, by: Self.maximumGroup) {
      let count = min(Self.maximumGroup, channels - first)
      guard let context = Self.makeContext(count, inRate, outRate, isExact: isExact) else {
        throw .outputRate(outRate)
      }
      groups.append((first, context))
    }
    let scratch = PlanarQueue(channels: channels)
    feedZeros(leadPeriods * ratio.periodIn, into: scratch)
  }

  deinit {
    for (_, context) in groups {
      var closing: OpaquePointer? = context
      swr_free(&closing)
    }
  }

  /// Resamples all frames of `input`, empties it, and appends the completed frames to `output`.
  func process(_ input: PlanarQueue, into output: PlanarQueue) {
    guard input.count > 0 else { return }
    framesIn += Int64(input.count)
    convert(input.headPlanes(), input.count, into: output)
    input.consume(input.count)
  }

  /// Ends the input and appends the remaining output frames. No more input may follow.
  func finish(into output: PlanarQueue) {
    let total = (framesIn * ratio.periodOut + ratio.periodIn - 1) / ratio.periodIn
    while framesOut < total {
      feedZeros(Int64(zeros.count), into: output)
    }
    output.truncate(to: output.count - Int(framesOut - total))
    framesOut = total
  }

  private func feedZeros(_ frames: Int64, into output: PlanarQueue) {
    var left = frames
    while left > 0 {
      let count = min(left, Int64(zeros.count))
      convert(zeros.headPlanes(), Int(count), into: output)
      left -= count
    }
  }

  private func convert(
    _ planes: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, _ frames: Int,
    into output: PlanarQueue
  ) {
    guard frames > 0 else { return }
    let room = Int(swr_get_out_samples(groups[0].context, Int32(frames))) + 16
    let tails = output.tailPlanes(frames: room)
    var made = 0
    for (first, context) in groups {
      let result = UnsafeMutableRawPointer(planes + first)
        .withMemoryRebound(to: UnsafePointer<UInt8>?.self, capacity: 1) {
          swr_convert(context, tails + first, Int32(room), $0, Int32(frames))
        }
      made = max(0, Int(result))
    }
    let discarded = min(made, Int(toDiscard))
    toDiscard -= Int64(discarded)
    for channel in 0..<channels where discarded > 0 && made > discarded {
      let tail = output.tail(channel, frames: 0)
      tail.update(from: tail + discarded, count: made - discarded)
    }
    output.commit(made - discarded)
    framesOut += Int64(made - discarded)
  }

  private static func makeContext(
    _ channels: Int, _ inRate: Int, _ outRate: Int, isExact: Bool
  ) -> OpaquePointer? {
    var layout = AVChannelLayout()
    layout.order = AV_CHANNEL_ORDER_UNSPEC
    layout.nb_channels = Int32(channels)
    var outLayout = layout
    var context: OpaquePointer?
    let result = swr_alloc_set_opts2(
      &context, &outLayout, AV_SAMPLE_FMT_FLTP, Int32(outRate), &layout, AV_SAMPLE_FMT_FLTP,
      Int32(inRate), 0, nil)
    guard result >= 0, let options = UnsafeMutableRawPointer(context) else { return nil }
    let settings: [(String, Int64)] = [
      ("filter_size", Int64(ResamplingRatio.taps)), ("phase_shift", phaseBits), ("kaiser_beta", 12),
      ("exact_rational", 1), ("linear_interp", isExact ? 0 : 1),
    ]
    for (name, value) in settings where av_opt_set_int(options, name, value, 0) < 0 {
      swr_free(&context)
      return nil
    }
    guard av_opt_set_double(options, "cutoff", ResamplingRatio.cutoff, 0) >= 0,
      swr_init(context) >= 0
    else {
      swr_free(&context)
      return nil
    }
    return context
  }
}

/// The ratio of two sample rates, and the dimensions of the filter.
struct ResamplingRatio {
  static let taps = 256
  /// The frequency of the -6 dB point, as a fraction of the output's Nyquist frequency. A point
  /// above the input's Nyquist frequency is lowered to that frequency.
  static let cutoff = 0.96

  /// The number of input frames after which the filter phases repeat. These frames produce
  /// `periodOut` output frames.
  let periodIn: Int64
  let periodOut: Int64
  /// Half the filter length in input frames, with a margin.
  let halfLength: Int64

  init(from inRate: Int, to outRate: Int) {
    let divisor = Self.greatestCommonDivisor(inRate, outRate)
    periodIn = Int64(inRate / divisor)
    periodOut = Int64(outRate / divisor)
    let stretch = max(1, Double(inRate) / (Double(outRate) * Self.cutoff))
    halfLength = Int64(Double(Self.taps / 2) * stretch) + 2
  }

  private static func greatestCommonDivisor(_ a: Int, _ b: Int) -> Int {
    b == 0 ? a : greatestCommonDivisor(b, a % b)
  }
}
