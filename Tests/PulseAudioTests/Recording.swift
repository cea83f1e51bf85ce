// SPDX-License-Identifier: Apache-2.0

import Glibc
import PulseAudio
import SoundServer

/// A recording of a `CountingSource`, and its analysis.
struct Recording {
  let samples: [Float]
  /// The source's frame number at each frame; nil for silence.
  let numbers: [Int?]

  init(_ captured: CapturedAudio) {
    let samples = captured.samples
    self.samples = samples
    numbers = (0..<samples.count / 2).map { CountingSource.number(samples[2 * $0 + 1]) }
  }

  /// The frame numbers without the silence.
  var heard: [Int] { numbers.compactMap { $0 } }

  /// The places where a frame does not follow its predecessor, ignoring silence.
  var jumps: [(from: Int, to: Int)] {
    let heard = heard
    return zip(heard, heard.dropFirst()).filter { $1 != $0 + 1 }.map { (from: $0, to: $1) }
  }

  /// The number of silent runs between the first and the last sound.
  var gaps: Int {
    let numbers = numbers
    guard let first = numbers.firstIndex(where: { $0 != nil }),
      let last = numbers.lastIndex(where: { $0 != nil })
    else { return 0 }
    return (first..<last).count { numbers[$0] != nil && numbers[$0 + 1] == nil }
  }

  /// The lengths of the silent runs of more than 2 ms between the first and the last sound [frames
  /// at 48 kHz].
  var interruptions: [Int] {
    let numbers = numbers
    let sounds = numbers.indices.filter { numbers[$0] != nil }
    return zip(sounds, sounds.dropFirst()).map { $1 - $0 - 1 }.filter { $0 > 96 }
  }

  /// The left channel in the longest run of consecutive frames.
  var longestRun: [Double] {
    var best = 0..<0
    var start = 0
    for index in numbers.indices {
      let follows = index > start && numbers[index] == numbers[index - 1].map { $0 + 1 }
      if numbers[index] == nil { start = index + 1 } else if !follows { start = index }
      if index + 1 - start > best.count { best = start..<index + 1 }
    }
    return best.map { Double(samples[2 * $0]) }
  }

  /// The left channel without the silence.
  var left: [Double] {
    numbers.indices.filter { numbers[$0] != nil }.map { Double(samples[2 * $0]) }
  }
}

/// Returns the residual of `signal` after subtracting the best-fitting sine of `frequency`, in dB
/// relative to the sine.
func residualDecibels(_ signal: [Double], frequency: Double, sampleRate: Double) -> Double {
  var cc = 0.0
  var ss = 0.0
  var cs = 0.0
  var xc = 0.0
  var xs = 0.0
  let step = 2 * Double.pi * frequency / sampleRate
  for (index, value) in signal.enumerated() {
    let c = cos(step * Double(index))
    let s = sin(step * Double(index))
    cc += c * c
    ss += s * s
    cs += c * s
    xc += value * c
    xs += value * s
  }
  let determinant = cc * ss - cs * cs
  let a = (xc * ss - xs * cs) / determinant
  let b = (xs * cc - xc * cs) / determinant
  var rest = 0.0
  var fit = 0.0
  for (index, value) in signal.enumerated() {
    let model = a * cos(step * Double(index)) + b * sin(step * Double(index))
    rest += (value - model) * (value - model)
    fit += model * model
  }
  return 10 * log10(max(rest, 1e-300) / fit)
}

func monotonicNow() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

func sleepMilliseconds(_ milliseconds: Int) { usleep(UInt32(milliseconds) * 1000) }

/// Returns the milliseconds until `condition` is true; nil after more than `limit`.
func millisecondsUntil(limit: Int, _ condition: () -> Bool) -> Double? {
  let start = monotonicNow()
  while !condition() {
    if monotonicNow() - start > Int64(limit) * 1_000_000 { return nil }
    usleep(2000)
  }
  return Double(monotonicNow() - start) / 1e6
}

/// Collects all events of an output.
final class EventLog {
  private let output: any AudioOutput
  private(set) var events: [AudioOutputEvent] = []

  init(_ output: any AudioOutput) { self.output = output }

  func first(
    after time: Int64 = 0, where matches: (AudioOutputEvent.Kind) -> Bool
  ) -> AudioOutputEvent? {
    events += output.takeEvents()
    return events.first { $0.timeNanoseconds >= time && matches($0.kind) }
  }

  /// Waits for an event.
  func await(
    limit: Int, after time: Int64 = 0, where matches: (AudioOutputEvent.Kind) -> Bool
  ) -> AudioOutputEvent? {
    var found: AudioOutputEvent?
    _ = millisecondsUntil(limit: limit) {
      found = first(after: time, where: matches)
      return found != nil
    }
    return found
  }
}
