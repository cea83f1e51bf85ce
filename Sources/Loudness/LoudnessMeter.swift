// SPDX-License-Identifier: Apache-2.0

private import CEBUR128
private import Glibc

/// Measures loudness according to ITU-R BS.1770-5 and EBU Tech 3341.
///
/// Samples that are not finite, or whose magnitude is +80 dBFS or more, count as silence, because
/// they could corrupt the state of the filters permanently.
///
/// ## Threading
/// One thread at a time may use a meter.
public final class LoudnessMeter {
  public let channels: Int
  private let measuresPeak: Bool
  private var state: UnsafeMutablePointer<ebur128_state>?
  private let interleaved: UnsafeMutablePointer<Float>
  private static let blockFrames = 1024
  private static let largest: Float = 1e4

  /// Creates a meter for one stream.
  ///
  /// - Parameters:
  ///   - weights: the weight of each channel, for 1 to 64 channels.
  ///   - sampleRate: the sample rate [Hz], 16 to 2822400.
  ///   - measuresPeak: whether to measure the true peak too.
  ///   - isEndless: whether memory use stays constant. If so, the integrated loudness is computed
  ///     from block loudnesses that are rounded by up to 0.05 LU. Otherwise, up to 10 values are
  ///     stored per second.
  public init(
    weights: [ChannelWeight], sampleRate: Int, measuresPeak: Bool = false, isEndless: Bool = false
  ) {
    channels = weights.count
    self.measuresPeak = measuresPeak
    var mode = EBUR128_MODE_I.rawValue | EBUR128_MODE_S.rawValue
    if isEndless { mode |= EBUR128_MODE_HISTOGRAM.rawValue }
    if measuresPeak { mode |= EBUR128_MODE_TRUE_PEAK.rawValue }
    state = ebur128_init(UInt32(weights.count), UInt(sampleRate), Int32(mode))
    precondition(
      state != nil,
      "cannot create a loudness meter for \(weights.count) channels at \(sampleRate) Hz")
    for (channel, weight) in weights.enumerated() {
      ebur128_set_channel(state, UInt32(channel), Int32(weight.libraryChannel.rawValue))
    }
    interleaved = .allocate(capacity: Self.blockFrames * weights.count)
  }

  deinit {
    ebur128_destroy(&state)
    interleaved.deallocate()
  }

  /// Measures the next frames.
  ///
  /// - Parameters:
  ///   - planes: channels x frames.
  ///   - offset: the index, in each plane, of the first frame to measure.
  ///   - frames: the number of frames to measure.
  public func add(
    _ planes: UnsafePointer<UnsafeMutablePointer<Float>>, from offset: Int = 0, frames: Int
  ) {
    var done = 0
    while done < frames {
      let count = min(Self.blockFrames, frames - done)
      for channel in 0..<channels {
        let plane = planes[channel] + offset + done
        for i in 0..<count {
          let value = plane[i]
          interleaved[i * channels + channel] = abs(value) < Self.largest ? value : 0
        }
      }
      ebur128_add_frames_float(state, interleaved, count)
      done += count
    }
  }

  /// Gated loudness since the start [LUFS]; nil if no 400 ms block has reached -70 LUFS.
  public var integrated: Double? { value(ebur128_loudness_global) }

  /// Ungated loudness of the last 3 s [LUFS]; nil for silence.
  public var shortTerm: Double? { loudness(ofLast: Self.longestWindow) }

  /// Ungated loudness of the last 400 ms [LUFS]; nil for silence.
  public var momentary: Double? { loudness(ofLast: 0.4) }

  /// The longest window of `loudness(ofLast:)` [s].
  public static let longestWindow = 3.0

  /// Returns the ungated loudness of the last `seconds` seconds [LUFS]; nil for silence or an empty
  /// window.
  ///
  /// - Parameter seconds: the length of the window, clamped to 0 ... `longestWindow`.
  public func loudness(ofLast seconds: Double) -> Double? {
    let milliseconds = UInt((1000 * min(Self.longestWindow, max(0, seconds))).rounded())
    return value { ebur128_loudness_window($0, milliseconds, $1) }
  }

  /// The highest true peak since the start [dBTP]; nil for silence, or if peaks are not measured.
  public var truePeak: Double? {
    guard measuresPeak else { return nil }
    var highest = 0.0
    for channel in 0..<channels {
      var peak = 0.0
      guard ebur128_true_peak(state, UInt32(channel), &peak) == 0 else { continue }
      highest = max(highest, peak)
    }
    return highest > 0 ? 20 * log10(highest) : nil
  }

  private func value(
    _ read: (UnsafeMutablePointer<ebur128_state>?, UnsafeMutablePointer<Double>?) -> Int32
  ) -> Double? {
    var loudness = -Double.infinity
    guard read(state, &loudness) == 0, loudness.isFinite else { return nil }
    return loudness
  }
}

extension ChannelWeight {
  /// A channel type of libebur128 that has this weight.
  fileprivate var libraryChannel: channel {
    switch self {
    case .main: EBUR128_CENTER
    case .surround: EBUR128_LEFT_SURROUND
    case .excluded: EBUR128_UNUSED
    }
  }
}
