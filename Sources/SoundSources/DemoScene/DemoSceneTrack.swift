// SPDX-License-Identifier: Apache-2.0

private import Ambisonics
private import CRealtime
internal import Geometry
internal import Rendering
internal import SignalProcessing

/// A note that generates its sound frame by frame from its onset.
protocol DemoNote: AnyObject {
  /// The scene's frame at which the note begins.
  var onset: Int { get }
  /// The duration of the note in frames.
  var frames: Int { get }
  /// Restarts the note at its first frame.
  func restart()
  /// Adds the note's next frames.
  func add(to sum: UnsafeMutablePointer<Float>, _ count: Int)
}

/// Notes from one direction.
struct DemoTrack {
  /// The gains of a plane wave from the direction, one per channel.
  let gains: [Float]
  private let notes: [any DemoNote]
  private let ceiling: Float

  /// - Parameter ceiling: the limit that the sum of the notes approaches but never reaches, linear.
  init(notes: [any DemoNote], direction: Direction, ceiling: Float) {
    self.notes = notes
    self.ceiling = ceiling
    gains = Self.gains(direction)
  }

  /// Returns the third-order gains of a plane wave, with rounding errors set to 0.
  static func gains(_ direction: Direction) -> [Float] {
    SphericalHarmonics.evaluate(order: 3, direction.unitVector).map {
      abs($0) < 1e-9 ? 0 : Float($0)
    }
  }

  /// Writes the next frames, which begin at the scene's frame `start`. Returns false, without
  /// writing, if they are silent.
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

  /// Soft-clips the peaks, so that the notes can be loud despite their louder attacks.
  private func saturate(_ mono: UnsafeMutablePointer<Float>, _ count: Int) {
    let scale = 1 / ceiling
    var i = 0
    while i < count {
      let x = mono[i] * scale
      mono[i] /= realtime_sqrtf(1 + x * x)
      i += 1
    }
  }

  /// Computes the state of the notes that sound at a frame, which depends on all their earlier
  /// frames.
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
