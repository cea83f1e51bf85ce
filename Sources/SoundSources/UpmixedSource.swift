// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Media
internal import Rendering
internal import SignalProcessing
internal import Surround

/// A stereo source that is upmixed to 5.1 by `Upmixer`. Frame numbers do not change.
///
/// After a seek, reading starts early enough for the upmix to settle.
final class UpmixedSource: SoundSource {
  private let source: any SoundSource
  private let upmixer: Upmixer
  private let input: PlanarScratch
  private let output: PlanarScratch
  /// Pointers to the samples of `input` that are filled next, one per channel.
  private let targets: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
  /// The number of frames read from `source` since the last seek.
  private var taken = 0
  private var hasEnded = false
  /// The first frame in `output`, counted from the first frame read from `source` since the last
  /// seek.
  private var made: Int
  /// The next frame to return, counted like `made`.
  private var next = 0

  /// A seek starts to read at least this many seconds before its target, or at frame 0.
  private static let prerollSeconds = 1.5

  init(_ source: any SoundSource, settings: UpmixSettings) {
    precondition(source.layout == .stereo)
    self.source = source
    upmixer = Upmixer(sampleRate: Double(source.sampleRate), settings: settings)
    input = PlanarScratch(channels: 2, frames: upmixer.hopFrames)
    output = PlanarScratch(channels: 6, frames: upmixer.hopFrames)
    targets = .allocate(capacity: 2)
    targets.initialize(repeating: input.planes[0], count: 2)
    made = -upmixer.windowFrames
  }

  deinit { targets.deallocate() }

  var layout: ChannelLayout { Upmixer.layout }
  var sampleRate: Int { source.sampleRate }
  var duration: Int? { source.duration }
  var title: String? { source.title }
  var warnings: [String] { source.warnings }
  var statedLoudness: StatedLoudness? { source.statedLoudness }
  var multichannelOffer: MultichannelOffer? { source.multichannelOffer }

  func contentLayout(atFrame frame: Int) -> ChannelLayout { source.contentLayout(atFrame: frame) }

  func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    var done = 0
    while done < frames {
      let rest = made + upmixer.hopFrames - next
      if rest <= 0 {
        if hasEnded, next >= taken { break }
        try advance()
        continue
      }
      // After the end of the source, return no more frames than were read.
      let known = hasEnded ? taken - next : rest
      let count = min(rest, known, frames - done)
      if count <= 0 { break }
      for c in 0..<6 {
        copyFrames(output.planes[c] + (next - made), planes[c] + done, count)
      }
      next += count
      done += count
    }
    return done
  }

  func seek(toFrame frame: Int) throws(PlaybackError) {
    let hop = upmixer.hopFrames
    let preroll = Int(Self.prerollSeconds * Double(sampleRate))
    let start = max(0, frame - preroll) / hop * hop
    try source.seek(toFrame: start)
    upmixer.reset()
    (taken, hasEnded) = (0, false)
    made = -upmixer.windowFrames
    next = max(0, frame) - start
  }

  private func advance() throws(PlaybackError) {
    let hop = upmixer.hopFrames
    var count = 0
    while count < hop, !hasEnded {
      for c in 0..<2 { targets[c] = input.planes[c] + count }
      let read = try source.read(into: targets, frames: hop - count)
      if read == 0 { hasEnded = true }
      count += read
    }
    for c in 0..<2 { clearFrames(input.planes[c] + count, hop - count) }
    taken += count
    upmixer.process(left: input.planes[0], right: input.planes[1], into: output.planes)
    made += hop
  }
}
