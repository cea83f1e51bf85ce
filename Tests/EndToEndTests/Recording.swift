// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import PulseAudio
import SoundServer

/// The output of a sink, with the time of every frame.
struct Recording {
  /// Two ears x frames.
  let ears: [[Float]]
  /// Frames and their CLOCK_MONOTONIC times [ns]. A gap in the recording is between two of them.
  private let anchors: [(frame: Int, time: Int64)]

  static let sampleRate = 48_000.0

  /// - Parameter isByArrival: whether frames are timed by their arrival, which is later than they
  ///   were played; otherwise by the server's reports.
  init(_ audio: CapturedAudio, isByArrival: Bool) {
    let samples = audio.samples
    ears = (0..<2).map { ear in (0..<samples.count / 2).map { samples[2 * $0 + ear] } }
    let origins = audio.fragments.compactMap { fragment -> (frame: Int, origin: Int64)? in
      if isByArrival {
        let end = fragment.firstFrame + fragment.frameCount
        return (fragment.firstFrame, fragment.arrivalTimeNanoseconds - Self.duration(end))
      }
      let time = fragment.captureTimeNanoseconds
      return time.map { (fragment.firstFrame, $0 - Self.duration(fragment.firstFrame)) }
    }
    // Reports jitter but the sink does not. The median over half a second suppresses single
    // outliers; for arrivals the earliest one is the most accurate.
    anchors = origins.indices.map { index in
      let near = origins[max(0, index - 5)..<min(origins.count, index + 6)].map(\.origin).sorted()
      let origin = isByArrival ? near[0] : near[near.count / 2]
      return (origins[index].frame, origin + Self.duration(origins[index].frame))
    }
  }

  private static func duration(_ frames: Int) -> Int64 {
    Int64(Double(frames) / sampleRate * 1e9)
  }

  var frames: Int { ears[0].count }

  func time(ofFrame frame: Int) -> Int64 {
    guard let anchor = anchors.last(where: { $0.frame <= frame }) ?? anchors.first else { return 0 }
    return anchor.time + Self.duration(frame - anchor.frame)
  }

  func frame(at time: Int64) -> Int {
    guard let anchor = anchors.last(where: { $0.time <= time }) ?? anchors.first else { return 0 }
    return anchor.frame + Int((Double(time - anchor.time) * 1e-9 * Self.sampleRate).rounded())
  }

  /// Returns the largest share of energy further than 100 Hz from `frequency` in any 50 ms between
  /// two times [dB].
  func worstSpuriousDecibels(_ frequency: Double, from start: Int64, to end: Int64) -> Double {
    let count = 2400
    let frames = max(0, frame(at: start))..<min(self.frames - count, frame(at: end))
    return stride(from: frames.lowerBound, to: frames.upperBound, by: count / 2).map { first in
      ears.map { spuriousDecibels($0[first..<first + count], frequency) }.max() ?? 0
    }.max() ?? 0
  }

  private func spuriousDecibels(_ samples: ArraySlice<Float>, _ frequency: Double) -> Double {
    let count = samples.count
    let windowed = samples.enumerated().map { index, sample in
      Double(sample) * blackmanHarris(Double(index) / Double(count))
    }
    let total = windowed.reduce(0) { $0 + $1 * $1 }
    let center = Int((frequency * Double(count) / Self.sampleRate).rounded())
    let near = (center - 5...center + 5).reduce(0.0) { sum, bin in
      let step = 2 * Double.pi * Double(bin) / Double(count)
      var (real, imaginary) = (0.0, 0.0)
      for (index, value) in windowed.enumerated() {
        real += value * cos(step * Double(index))
        imaginary += value * sin(step * Double(index))
      }
      return sum + 2 * (real * real + imaginary * imaginary) / Double(count)
    }
    return 10 * log10(max(1e-12, (total - near) / max(total, 1e-30)))
  }

  /// Returns whether there are 2 ms of silence between two times.
  func hasGap(from start: Int64, to end: Int64) -> Bool {
    stride(from: frame(at: start), to: frame(at: end), by: 96).contains {
      level($0..<$0 + 96) < 1e-6
    }
  }

  /// Returns the root mean square of both ears.
  func level(_ range: Range<Int>) -> Double {
    var sum = 0.0
    for ear in ears { for i in range.clamped(to: 0..<frames) { sum += Double(ear[i] * ear[i]) } }
    return (sum / Double(max(1, 2 * range.count))).squareRoot()
  }
}

/// Returns a Blackman-Harris window, with side lobes below -92 dB (Harris 1978).
private func blackmanHarris(_ x: Double) -> Double {
  let angle = 2 * Double.pi * x
  return 0.35875 - 0.48829 * cos(angle) + 0.14128 * cos(2 * angle) - 0.01168 * cos(3 * angle)
}

/// Records a sink during a test.
final class SinkRecorder {
  private let audio = CapturedAudio()
  private let capture: MonitorCapture
  private let isByArrival: Bool

  /// - Parameters:
  ///   - address: the server's address.
  ///   - sink: the name of the sink.
  ///   - patience: the time that the server may take to start [s].
  ///   - isByArrival: as in `Recording`.
  init(
    _ address: String, sink: String? = "ears", patience: Double = 0, isByArrival: Bool = false
  ) throws {
    self.isByArrival = isByArrival
    let end = monotonic_nanoseconds() + Int64(patience * 1e9)
    while true {
      do {
        // Fragments that are longer than the sink's own blocks keep the recording from shortening
        // the sink's latency.
        capture = try MonitorCapture(
          serverAddress: address, sinkName: sink, fragmentMilliseconds: 50,
          receiver: audio.append)
        return
      } catch {
        guard monotonic_nanoseconds() < end else { throw error }
      }
    }
  }

  /// Ends the recording.
  func finish() -> Recording {
    capture.stop()
    return current
  }

  /// The recording so far.
  var current: Recording { Recording(audio, isByArrival: isByArrival) }
}
