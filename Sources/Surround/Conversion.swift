// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
private import Geometry

/// Gains that convert a source layout to a target layout for a listener who faces the front. The
/// method depends on the target:
///
/// - For stereo, `Treatment(plain:)` supplies the gains.
/// - For other loudspeakers, a channel passes at gain 1 if the target has its loudspeaker, or a
///   side or back surround at the same position. Otherwise, `AmplitudePanner` pans it. A soundfield
///   is decoded by `FieldSpeakerDecoder`.
/// - For the first-order soundfield, loudspeakers are encoded at their positions. A soundfield
///   keeps the channels of degrees 0 and 1.
///
/// Low-frequency effects pass at gain 1 to the target's channel for low-frequency effects; without
/// such a channel, they are dropped. Head-locked stereo is converted like stereo.
public enum Conversion {
  /// The first-order soundfield in ACN order and SN3D scale.
  public static let firstOrder = ChannelLayout.ambisonics(
    order: 1, convention: .ambiX, headLocked: false)

  /// Returns the gains of a conversion.
  ///
  /// - Parameters:
  ///   - source: any layout; the gains from `.unknown` are 0.
  ///   - target: stereo, `firstOrder`, or loudspeakers around the listener.
  /// - Returns: target channels x source channels.
  public static func gains(from source: ChannelLayout, to target: ChannelLayout) -> [[Double]] {
    if target == .stereo { return Treatment(plain: source).headLocked }
    var gains = still(from: source, to: target)
    switch (source, target) {
    case (.speakers(let speakers), .speakers(let outputs)):
      let panner = AmplitudePanner(speakers: outputs)
      for (input, speaker) in speakers.enumerated() {
        guard let place = speaker.direction(in: speakers) else { continue }
        if let output = outputs.firstIndex(of: speaker)
          ?? twin(of: speaker, in: speakers, outputs)
        {
          gains[output][input] = 1
        } else {
          add(panner.gains(place.unitVector), to: &gains, input)
        }
      }
    case (.speakers(let speakers), _):
      for (input, speaker) in speakers.enumerated() {
        guard let place = speaker.direction(in: speakers) else { continue }
        add(SphericalHarmonics.evaluate(order: 1, place.unitVector), to: &gains, input)
      }
    case (.ambisonics(let order, let convention, _), _):
      let decoder = decoder(order: order, to: target)
      for (input, channel) in convention.conversion(order: order).enumerated() {
        for output in decoder.indices where channel.channel < decoder[output].count {
          gains[output][input] += decoder[output][channel.channel] * channel.gain
        }
      }
    case (.unknown, _): break
    }
    return gains
  }

  /// Returns the gains of the sound that does not turn with the head: low-frequency effects and
  /// head-locked stereo.
  ///
  /// - Returns: target channels x source channels.
  public static func still(from source: ChannelLayout, to target: ChannelLayout) -> [[Double]] {
    let none = [Double](repeating: 0, count: source.channelCount)
    var gains = [[Double]](repeating: none, count: target.channelCount)
    switch source {
    case .speakers(let speakers):
      guard case .speakers(let outputs) = target else { break }
      for (input, speaker) in speakers.enumerated() where speaker.isLowFrequency {
        let output = outputs.firstIndex(of: speaker) ?? outputs.firstIndex(of: .lowFrequency)
        if let output { gains[output][input] = 1 }
      }
    case .ambisonics(_, _, headLocked: true):
      let first = source.channelCount - 2
      let pair = self.gains(from: .stereo, to: target)
      for output in gains.indices {
        gains[output][first] = pair[output][0]
        gains[output][first + 1] = pair[output][1]
      }
    default: break
    }
    return gains
  }

  /// Returns the gains that decode a soundfield in ACN order and SN3D scale: target channels x
  /// (order + 1)^2.
  public static func decoder(order: Int, to target: ChannelLayout) -> [[Double]] {
    let count = SphericalHarmonics.channelCount(order: order)
    switch target {
    case .stereo:
      let layout = ChannelLayout.ambisonics(order: order, convention: .ambiX, headLocked: false)
      return Treatment(plain: layout).headLocked
    case .speakers(let outputs): return FieldSpeakerDecoder.gains(order: order, speakers: outputs)
    default:
      return (0..<target.channelCount).map { output in
        (0..<count).map { $0 == output ? 1 : 0 }
      }
    }
  }

  /// Returns the index of the output that has the position of `speaker` but another name. Side and
  /// back surround can be two names for one position. Returns nil if there is no such output.
  private static func twin(of speaker: Speaker, in source: [Speaker], _ outputs: [Speaker]) -> Int?
  {
    let twins: [Speaker: Speaker] = [
      .backLeft: .sideLeft, .backRight: .sideRight, .sideLeft: .backLeft, .sideRight: .backRight,
    ]
    guard let twin = twins[speaker], let output = outputs.firstIndex(of: twin),
      speaker.direction(in: source) == twin.direction(in: outputs)
    else { return nil }
    return output
  }

  private static func add(_ column: [Double], to gains: inout [[Double]], _ input: Int) {
    for (output, gain) in column.enumerated() { gains[output][input] += gain }
  }
}
