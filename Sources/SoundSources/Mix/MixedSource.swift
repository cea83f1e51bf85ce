// SPDX-License-Identifier: Apache-2.0

package import Ambisonics
package import AudioMix
package import Media
package import Rendering
private import SignalProcessing

/// A source that separates a soundfield and mixes the stems. Frame numbers remain those of the
/// original source.
///
/// With the target `.ambienceAndSpeech`, `read` supplies five channels: first the ambience as a
/// first-order soundfield, then the speech.
package final class MixedSource: SoundSource {
  private let stems: MixStemSource
  private let mixer: StemMixer
  private let planes: PlanarScratch
  package let layout: ChannelLayout
  private static let blockFrames = 4096

  /// Creates a mixed source.
  ///
  /// - Parameters:
  ///   - source: a soundfield of order 1 or higher.
  ///   - settings: the mix.
  ///   - target: the channels to supply.
  /// - Throws: any error from `MixStemSource`.
  package init(
    _ source: any SoundSource, settings: MixSettings, target: MixTarget = .field
  ) throws(PlaybackError) {
    stems = try MixStemSource(source, settings: settings)
    mixer = StemMixer(
      channels: stems.fieldChannels, headLocked: stems.headLocked,
      sampleRate: Double(source.sampleRate), settings: settings, target: target)
    layout = target == .field ? stems.field : .unknown(channels: 5)
    planes = PlanarScratch(channels: stems.layout.channelCount, frames: Self.blockFrames)
  }

  package var sampleRate: Int { stems.sampleRate }
  package var duration: Int? { stems.duration }
  package var title: String? { stems.title }
  package var warnings: [String] { stems.warnings }
  package var statedLoudness: StatedLoudness? { stems.statedLoudness }
  package var stream: (any StreamedSource)? { stems.stream }
  package func contentLayout(atFrame frame: Int) -> ChannelLayout { layout }

  package func read(
    into output: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    try readPieces(
      into: output, channels: mixer.outputs, frames: frames, atMost: Self.blockFrames
    ) { (output, wanted) throws(PlaybackError) in
      let count = try stems.read(into: planes.planes, frames: wanted)
      mixer.process(UnsafePointer(planes.planes), into: UnsafePointer(output), frames: count)
      return count
    }
  }

  package func seek(toFrame frame: Int) throws(PlaybackError) {
    try stems.seek(toFrame: frame)
    mixer.reset()
  }
}
