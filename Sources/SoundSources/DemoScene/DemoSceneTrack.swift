// SPDX-License-Identifier: Apache-2.0

private import Ambisonics
private import CRealtime
internal import Geometry
internal import Rendering
internal import SignalProcessing

/// A note that generates its frames in order, starting with the first.
protocol DemoNote: AnyObject {
  /// The frame of the scene at which the note begins.
  var onset: Int { get }
  /// The duration of the note, in frames.
  var frames: Int { get }
  func restart()
  /// Adds the next `count` frames of the note to `sum`.
  func add(to sum: UnsafeMutablePointer<Float>, _ count: Int)
}

/// A sequence of notes from one direction.
struct DemoTrack {
  /// The gains that encode the notes as a third-order plane wave, one per channel.
  let gains: [Float]
  private let notes: [any DemoNote]
  private let ceiling: Float

  /// Creates a track. `ceiling` is the linear limit of the sum of the notes.
  init(notes: [any DemoNote], direction: Direction, ceiling: Float) {
    self.notes = notes
    self.ceiling = ceiling
    gains = Self.gains(direction)
  }

  /// Returns the gains that encode a third-order plane wave. Gains below 1e-9 in magnitude become
  /// 0.
  static func gains(_ direction: Direction) -> [Float] {
    SphericalHarmonics.evaluate(order: 3, direction.unitVector).map {
      abs($0) < 1e-9 ? 0 : Float($0)
    }
  }

  /// Writes `count` frames, starting at frame `start` of the scene. Returns false, without writing,
  /// if no note sounds in these frames.
  ///
  /// `start` must be the end of the previous call's frames or, if `seek` was called since then, its
  /// target. In the first call, if no `seek` precedes it, `start` must be 0.
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

  /// Soft-clips the sound at `ceiling`.
  private func saturate(_ mono: UnsafeMutablePointer<Float>, _ count: Int) {
    let scale = 1 / ceiling
    var i = 0
    while i < count {
      let x = mono[i] * scale
      mono[i] /= realtime_sqrtf(1 + x * x)
      i += 1
    }
  }

  /// Restarts the notes that began before a frame and still sound at it, and advances them to that
  /// frame.
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
