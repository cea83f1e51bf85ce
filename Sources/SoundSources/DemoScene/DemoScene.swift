// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
private import Geometry
public import Rendering
internal import SignalProcessing

/// A 20 s demonstration scene that is generated as it is read.
///
/// The scene is a third-order soundfield in ACN order and SN3D scale. The samples depend neither on
/// the size of the reads nor on seeks.
///
/// ## Threading
/// Use a scene from one thread at a time.
public final class DemoScene: SoundSource {
  /// The duration of the scene, in seconds.
  public static let seconds = 20.0
  /// The sample rates at which a scene can be generated, in Hz.
  public static let sampleRates = 8000...384_000

  public let layout = ChannelLayout.ambisonics(order: 3, convention: .ambiX, headLocked: false)
  public let sampleRate: Int
  public let title: String? = "The stage stands still"
  public let warnings: [String] = []
  public var duration: Int? { frameCount }

  private let frameCount: Int
  private let tracks: [DemoTrack]
  private let ambience: DemoAmbience?
  private let mono: AlignedFloats
  private var position = 0

  private static let chunkFrames = 512
  private static let riseSeconds = 0.2
  private static let fallSeconds = 1.2

  /// Creates a scene.
  ///
  /// - Parameters:
  ///   - sampleRate: the sample rate in Hz, within `sampleRates`.
  ///   - parts: the audible parts. Default: all.
  public init(sampleRate: Int = 48000, parts: Set<DemoScenePart> = Set(DemoScenePart.allCases)) {
    precondition(Self.sampleRates.contains(sampleRate), "8 to 384 kHz")
    self.sampleRate = sampleRate
    frameCount = Int(Self.seconds * Double(sampleRate))
    tracks = DemoScenePart.allCases.filter(parts.contains).compactMap { part in
      part.direction.map { direction in
        DemoTrack(
          notes: DemoScore.notes(of: part, sampleRate: Double(sampleRate)), direction: direction,
          ceiling: DemoScore.ceiling(of: part))
      }
    }
    ambience =
      parts.contains(.ambience)
      ? DemoAmbience(sampleRate: Double(sampleRate), chunkFrames: Self.chunkFrames) : nil
    mono = AlignedFloats(count: Self.chunkFrames)
  }

  public func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    let total = max(0, min(frames, frameCount - position))
    var done = 0
    while done < total {
      let count = min(Self.chunkFrames, total - done)
      renderChunk(planes, at: done, count)
      position += count
      done += count
    }
    return total
  }

  public func seek(toFrame frame: Int) throws(PlaybackError) {
    let frame = max(0, min(frame, frameCount))
    guard frame != position else { return }
    for track in tracks { track.seek(to: frame, scratch: mono.pointer, Self.chunkFrames) }
    position = frame
  }

  private func renderChunk(
    _ planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, at offset: Int, _ count: Int
  ) {
    for channel in 0..<layout.channelCount { clearFrames(planes[channel] + offset, count) }
    for track in tracks {
      guard track.render(into: mono.pointer, at: position, count) else { continue }
      encode(mono.pointer, track.gains, planes, offset, count)
    }
    if let ambience {
      ambience.render(at: position, count)
      for (stream, gains) in ambience.gains.enumerated() {
        encode(ambience.plane(stream), gains, planes, offset, count)
      }
    }
    shape(planes, offset, count)
  }

  private func encode(
    _ sound: UnsafePointer<Float>, _ gains: [Float],
    _ planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, _ offset: Int, _ count: Int
  ) {
    // Skip gains of 0. A direction on an axis has many of them.
    for (channel, gain) in gains.enumerated() where gain != 0 {
      let plane = planes[channel] + offset
      var i = 0
      while i < count {
        plane[i] += gain * sound[i]
        i += 1
      }
    }
  }

  private func shape(
    _ planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, _ offset: Int, _ count: Int
  ) {
    let envelope = DemoEnvelope(
      frames: frameCount, rise: Self.riseSeconds * Double(sampleRate),
      fall: Self.fallSeconds * Double(sampleRate))
    guard envelope.isShaping(position..<position + count) else { return }
    for i in 0..<count {
      let gain = envelope.gain(at: position + i)
      for channel in 0..<layout.channelCount { planes[channel][offset + i] *= gain }
    }
  }
}
