// SPDX-License-Identifier: Apache-2.0

/// Collects the direction of arrival and the number of lost frames for each second of a recording.
struct Annotation {
  var intensity = FieldIntensity()
  /// The number of frames that have been lost since the last note.
  var lostFrames = 0
  private let sampleRate: Int
  private var frames = 0

  init(sampleRate: Int) { self.sampleRate = sampleRate }

  /// Counts frames. Returns a note if they complete a second; otherwise nil.
  mutating func next(frames count: Int) -> RecordingNote? {
    frames += count
    guard frames >= sampleRate else { return nil }
    frames -= sampleRate
    defer { lostFrames = 0 }
    let arrival = intensity.take().direction
    return RecordingNote(
      azimuthDegrees: arrival.map { $0.azimuth * 180 / .pi },
      elevationDegrees: arrival.map { $0.elevation * 180 / .pi }, lostFrames: lostFrames)
  }
}
