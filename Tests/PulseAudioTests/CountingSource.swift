// SPDX-License-Identifier: Apache-2.0

import Glibc
import PulseAudio
import SoundServer
import Synchronization

/// Renders a sine on the left and the frame's own number on the right, so that a recording shows
/// which frames were lost, repeated or changed.
final class CountingSource: @unchecked Sendable {
  static let frequency = 997.0
  static let amplitude = 0.5
  /// Frame numbers wrap around after this many frames.
  static let period = 1 << 20

  let sampleRate: Int
  let nextFrame = Atomic<Int64>(0)
  /// Extra time that each call takes [us].
  let delayMicroseconds = Atomic<UInt32>(0)
  let decreases = Atomic<Int>(0)
  private let times: UnsafeMutablePointer<Int64>
  private let lastTime = Atomic<Int64>(.min)

  init(sampleRate: Int = 48_000) {
    self.sampleRate = sampleRate
    times = .allocate(capacity: Self.period)
    times.initialize(repeating: 0, count: Self.period)
  }

  deinit { times.deallocate() }

  var callback: AudioRenderCallback {
    AudioRenderCallback(owner: self) { context, interleaved, frameCount, time in
      Unmanaged<CountingSource>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.render(interleaved, frameCount, time)
      }
    }
  }

  /// Returns the presentation time that the output gave for frame `number` [ns].
  func presentationTime(of number: Int) -> Int64 { times[number % Self.period] }

  /// Returns the frame number that a sample of the right channel contains; nil for silence.
  static func number(_ sample: Float) -> Int? {
    sample == 0 ? nil : Int((sample * Float(2 * period)).rounded()) - 1
  }

  private func render(_ samples: UnsafeMutablePointer<Float>, _ count: Int, _ time: Int64) {
    let first = nextFrame.load(ordering: .relaxed)
    if time < lastTime.exchange(time, ordering: .relaxed) {
      decreases.add(1, ordering: .relaxed)
    }
    for frame in 0..<count {
      let position = first + Int64(frame)
      let phase = 2 * Double.pi * Self.frequency * Double(position) / Double(sampleRate)
      let number = Int(position) % Self.period
      samples[2 * frame] = Float(Self.amplitude * sin(phase))
      samples[2 * frame + 1] = Float(number + 1) / Float(2 * Self.period)
      times[number] = time + Int64(frame) * 1_000_000_000 / Int64(sampleRate)
    }
    nextFrame.store(first + Int64(count), ordering: .relaxed)
    let delay = delayMicroseconds.load(ordering: .relaxed)
    if delay > 0 { usleep(delay) }
  }
}
