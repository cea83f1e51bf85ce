// SPDX-License-Identifier: Apache-2.0

@testable import AudioMix

/// Random stems of a soundfield with four channels, and what the styles make of them.
struct MixedStems {
  let frames: Int
  let channels: Int
  /// The planes in the order of `StemPlanes`.
  var planes: [[Float]]

  init(frames: Int, channels: Int = 4, seed: UInt64 = 1) {
    (self.frames, self.channels) = (frames, channels)
    var state = seed
    planes = (0..<channels + StemPlanes.count).map { _ in
      (0..<frames).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Float(Int32(truncatingIfNeeded: state >> 32)) / Float(Int32.max)
      }
    }
  }

  func stem(_ first: Int, _ channel: Int, _ i: Int) -> Double {
    Double(planes[channels + first + channel][i])
  }
  func x(_ c: Int, _ i: Int) -> Double { Double(planes[c][i]) }
  func image(_ c: Int, _ i: Int) -> Double { stem(StemPlanes.image, c, i) }
  func framed(_ c: Int, _ i: Int) -> Double { stem(StemPlanes.framedImage, c, i) }
  func studio(_ c: Int, _ i: Int) -> Double { stem(StemPlanes.studioImage, c, i) }
  func studioSpeech(_ i: Int) -> Double { stem(StemPlanes.studioSpeech, 0, i) }

  /// Returns the output of a mixer in calls of `blockFrames` frames. `change` is called before each
  /// call with the number of its first frame.
  func mixed(
    by mixer: StemMixer, blockFrames: Int = 256, change: (Int) -> Void = { _ in }
  ) -> [[Float]] {
    var input = planes
    var output = [[Float]](repeating: [Float](repeating: 0, count: frames), count: mixer.outputs)
    var done = 0
    while done < frames {
      let count = min(blockFrames, frames - done)
      change(done)
      withPlanes(&input, at: done) { stems in
        withPlanes(&output, at: done) { mixer.process(stems, into: $0, frames: count) }
      }
      done += count
    }
    return output
  }
}

/// Calls `body` with pointers to frame `offset` of each plane.
func withPlanes(
  _ planes: inout [[Float]], at offset: Int = 0,
  _ body: (UnsafePointer<UnsafeMutablePointer<Float>>) -> Void
) {
  let count = planes.count
  let pointers = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: count)
  let copies = planes.map { plane -> UnsafeMutablePointer<Float> in
    let copy = UnsafeMutablePointer<Float>.allocate(capacity: max(1, plane.count))
    copy.initialize(from: plane, count: plane.count)
    return copy
  }
  for (c, copy) in copies.enumerated() { (pointers + c).initialize(to: copy + offset) }
  body(UnsafePointer(pointers))
  for (c, copy) in copies.enumerated() {
    planes[c] = Array(UnsafeBufferPointer(start: copy, count: planes[c].count))
    copy.deallocate()
  }
  pointers.deallocate()
}

/// Returns the energy of the difference relative to the energy of `truth`, in dB.
func errorDecibels(_ result: [[Float]], _ truth: (Int, Int) -> Double) -> Double {
  var (error, energy) = (0.0, 1e-300)
  for (c, plane) in result.enumerated() {
    for (i, value) in plane.enumerated() {
      let wanted = truth(c, i)
      error += (Double(value) - wanted) * (Double(value) - wanted)
      energy += wanted * wanted
    }
  }
  return 10 * decimalLogarithm(max(error / energy, 1e-30))
}
