// SPDX-License-Identifier: Apache-2.0

/// A block of planar samples for tests, channels x frames, in memory that real-time code can use.
///
/// The pointers are valid as long as the object exists, so keep it in a variable.
public final class PlanarSignal: @unchecked Sendable {
  public let channelCount: Int
  public let frames: Int
  public let channels: UnsafeMutablePointer<UnsafeMutablePointer<Float>>

  /// Fills the block.
  ///
  /// - Parameter value: returns the sample of a channel at a frame; silence by default.
  public init(
    channelCount: Int, frames: Int, _ value: (_ channel: Int, _ frame: Int) -> Float = { _, _ in 0 }
  ) {
    self.channelCount = channelCount
    self.frames = frames
    channels = .allocate(capacity: channelCount)
    for c in 0..<channelCount {
      let samples = UnsafeMutablePointer<Float>.allocate(capacity: max(1, frames))
      for i in 0..<frames { (samples + i).initialize(to: value(c, i)) }
      (channels + c).initialize(to: samples)
    }
  }

  public convenience init(_ samples: [[Float]]) {
    self.init(channelCount: samples.count, frames: samples[0].count) { samples[$0][$1] }
  }

  deinit {
    for c in 0..<channelCount { channels[c].deallocate() }
    channels.deallocate()
  }

  public subscript(channel: Int) -> UnsafeMutablePointer<Float> { channels[channel] }

  public var copy: PlanarSignal {
    PlanarSignal(channelCount: channelCount, frames: frames) { self[$0][$1] }
  }

  public var arrays: [[Float]] {
    (0..<channelCount).map { c in (0..<frames).map { self[c][$0] } }
  }

  /// Calls `body` with pointers to each piece in turn, using the sizes in rotation.
  public func forEachPiece(
    of sizes: [Int], _ body: (UnsafePointer<UnsafeMutablePointer<Float>>, Int) -> Void
  ) {
    let moved = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: channelCount)
    defer { moved.deallocate() }
    var done = 0
    var piece = 0
    while done < frames {
      let count = min(sizes[piece % sizes.count], frames - done)
      for c in 0..<channelCount { (moved + c).initialize(to: channels[c] + done) }
      body(moved, count)
      done += count
      piece += 1
    }
  }
}
