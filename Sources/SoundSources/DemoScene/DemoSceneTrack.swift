// SPDX-License-Identifier: Apache-2.0

private import Ambisonics
private import CRealtime
internal import Geometry
internal import Rendering
internal import SignalProcessing

/// A note that makes its sound from its onset on, frame after frame.
protocol DemoNote: AnyObject {
  /// The scene's frame at which it begins.
  var onset: Int { get }
  /// How long it sounds.
  var frames: Int { get }
  /// Makes its first frame the next one.
  func restart()
  /// Adds its next frames.
  func add(to sum: UnsafeMutablePointer<Float>, _ count: Int)
}

/// Notes from one direction.
struct DemoTrack {
  /// Of a plane wave from the direction, one a channel.
  let gains: [Float]
  private let notes: [any DemoNote]
  private let ceiling: Float

  /// - Parameter ceiling: what the notes together come near to but never reach, linear.
  init(notes: [any DemoNote], direction: Direction, ceiling: Float) {
    self.notes = notes
    self.ceiling = ceiling
    gains = Self.gains(direction)
  }

  /// Third-order gains of a plane wave; what is 0 but for rounding is 0.
  static func gains(_ direction: Direction) -> [Float] {
    SphericalHarmonics.evaluate(order: 3, direction.unitVector).map {
      abs($0) < 1e-9 ? 0 : Float($0)
    }
  }

  /// Writes the next frames, which begin at the scene's frame `start`; false where there is
  /// silence.
  func render(into mono: UnsafeMutablePointer<Float>, at start: Int, _ count: Int) -> Bool {
    var hasSound = false
    for note in notes {
      let first = max(start, note.onset)
      let end = min(start + count, note.onset + note.frames)
      guard first < end else { continue }
      if !hasSound { clearFrames(mono, count) }
      hasSound = true
      if first == note.onset { note.restart() }
      note.add(to: mono + (first - start), end - first)
    }
    if hasSound { saturate(mono, count) }
    return hasSound
  }

  /// Rounds the peaks off, so that notes can be loud beside their own attacks.
  private func saturate(_ mono: UnsafeMutablePointer<Float>, _ count: Int) {
    let scale = 1 / ceiling
    var i = 0
    while i < count {
      let x = mono[i] * scale
      mono[i] /= realtime_sqrtf(1 + x * x)
      i += 1
    }
  }

  /// Brings the notes that sound at a frame to where they would be: each has a state that only its
  /// own past makes.
  func seek(to frame: Int, scratch: UnsafeMutablePointer<Float>, _ scratchFrames: Int) {
    for note in notes where note.onset < frame && frame < note.onset + note.frames {
      note.restart()
      var left = frame - note.onset
      while left > 0 {
        let count = min(left, scratchFrames)
        note.add(to: scratch, count)
        left -= count
      }
    }
  }
}
