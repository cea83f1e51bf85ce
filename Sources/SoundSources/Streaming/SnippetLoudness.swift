// SPDX-License-Identifier: Apache-2.0

package import Ambisonics
package import Binaural
private import Glibc
private import Loudness
package import Rendering
internal import SignalProcessing
private import Surround

/// Returns the loudness of a short sound as the listener hears it, in LUFS. Returns nil for
/// silence, or if the sound cannot be prepared.
///
/// The sound is prepared, converted to the bus and rendered for a head that faces the front. The
/// measurement is not gated.
///
/// - Parameters:
///   - planes: channels x frames, at the sample rate of the filters.
///   - layout: the layout of the planes.
///   - isBinaural: whether the sound was made for headphones.
///   - bus: the layout that is rendered.
package func loudness(
  ofSnippet planes: [[Float]], _ layout: ChannelLayout, isBinaural: Bool,
  on bus: ChannelLayout, filters: BinauralFilters, settings: RenderSettings
) -> Double? {
  let rate = Int(filters.sampleRate)
  let blockFrames = rate / 10
  let memory = MemorySource(planes, layout: layout, sampleRate: rate, isBinaural: isBinaural)
  guard let source = try? prepared(memory, settings: settings) else { return nil }
  let inputs = source.layout.channelCount
  let matrix = MixMatrix(gains: LayoutBus.gains(from: source.layout, to: bus), inputs: inputs)
  let meter = EarMeter(
    layout: bus, content: layout, isBinaural: isBinaural, filters: filters, settings: settings)
  var energy = 0.0
  let input = PlanarScratch(channels: inputs, frames: blockFrames)
  let mixed = PlanarScratch(channels: bus.channelCount, frames: blockFrames)
  while let count = try? source.read(into: input.planes, frames: blockFrames), count > 0 {
    matrix.mix(UnsafePointer(input.planes), into: UnsafePointer(mixed.planes), frames: count)
    meter.add(UnsafePointer(mixed.planes), frames: count)
    let loudness = meter.loudness(ofLast: Double(count) / Double(rate)) ?? -.infinity
    energy += Double(count) * pow(10, loudness / 10)
  }
  return energy > 0 ? 10 * log10(energy / Double(meter.frames)) : nil
}

/// A source that reads from memory, so that `prepared(_:settings:)` can process a short sound.
final class MemorySource: SoundSource {
  let layout: ChannelLayout
  let sampleRate: Int
  let isBinaural: Bool
  let title: String? = nil
  let warnings: [String] = []
  private let planes: [[Float]]
  private var position = 0

  /// Creates a source from planes, channels x frames.
  init(_ planes: [[Float]], layout: ChannelLayout, sampleRate: Int, isBinaural: Bool) {
    precondition(planes.count == layout.channelCount)
    self.planes = planes
    self.layout = layout
    self.sampleRate = sampleRate
    self.isBinaural = isBinaural
  }

  var duration: Int? { planes.first?.count ?? 0 }

  func read(
    into target: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    let count = max(0, min(frames, (planes.first?.count ?? 0) - position))
    for (c, plane) in planes.enumerated() {
      for i in 0..<count { target[c][i] = plane[position + i] }
    }
    position += count
    return count
  }

  func seek(toFrame frame: Int) throws(PlaybackError) {
    position = max(0, min(frame, planes.first?.count ?? 0))
  }
}
