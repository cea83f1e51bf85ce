// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing
private import Synchronization

/// Mixes separated sound in a style.
///
/// A change of the style or the amount starts a fade of 50 ms. At an amount of 0, without tuning
/// and for `MixTarget.field`, every style that is not a stem leaves the soundfield unchanged.
///
/// ## Threading
/// Any thread may use `value`. Use everything else from one thread at a time. `process` does not
/// allocate, lock or wait.
public final class StemMixer: @unchecked Sendable {
  public let target: MixTarget
  /// The number of channels of the input, including head-locked channels.
  public let channels: Int
  /// The number of channels that are not head-locked.
  private let fieldChannels: Int
  /// The number of output channels: `channels`, or 5 for `MixTarget.ambienceAndSpeech`.
  public var outputs: Int { target.isField ? channels : 5 }

  /// The index of the style in `styles` (upper 32 bits) and the bit pattern of the amount as a
  /// `Float` (lower 32 bits).
  private let word: Atomic<UInt64>
  private let styles: UnsafeMutablePointer<MixStyle>
  private let state: UnsafeMutablePointer<State>
  private let rampFrames: Int
  private let standardIndex: UInt64
  private let isNeutral: Bool
  private let speechTuning: PartFilter
  private let ambienceTuning: PartFilter

  private struct State {
    var mark: UInt64
    var start: MixGains
    var end: MixGains
    /// The number of frames since the start of the fade, at most `rampFrames`.
    var position: Int
  }

  static let rampSeconds = 0.05

  /// Creates a mixer.
  ///
  /// - Parameters:
  ///   - channels: the number of channels. At least 4 of them must not be head-locked.
  ///   - headLocked: the number of head-locked channels, which come last and are not mixed.
  ///   - sampleRate: the sample rate in Hz.
  ///   - settings: the style must not be a stem if the target is `.ambienceAndSpeech`.
  ///   - target: the channels of the output.
  public init(
    channels: Int, headLocked: Int = 0, sampleRate: Double, settings: MixSettings,
    target: MixTarget = .field
  ) {
    precondition(channels - headLocked >= 4)
    (self.channels, self.target) = (channels, target)
    fieldChannels = channels - headLocked
    let mark = Self.packed(settings.style, settings.amount)
    word = Atomic(mark)
    styles = .allocate(capacity: MixStyle.allCases.count)
    _ = UnsafeMutableBufferPointer(start: styles, count: MixStyle.allCases.count)
      .initialize(from: MixStyle.allCases)
    rampFrames = max(1, Int(Self.rampSeconds * sampleRate))
    let gains = MixGains(settings.style, amount: Double(amount(ofMark: mark)), target: target)
    state = .allocate(capacity: 1)
    state.initialize(to: State(mark: mark, start: gains, end: gains, position: rampFrames))
    standardIndex = UInt64(MixStyle.allCases.firstIndex(of: .standard) ?? 0)
    isNeutral = settings.tuning.isNeutral
    speechTuning = PartFilter(settings.tuning.speech, channels: 4, sampleRate: sampleRate)
    ambienceTuning = PartFilter(
      settings.tuning.ambience, channels: channels, sampleRate: sampleRate)
  }

  deinit {
    styles.deallocate()
    state.deallocate()
  }

  /// The style and the amount. The amount is clamped to 0 ... 1, and NaN becomes 0.
  public var value: (style: MixStyle, amount: Double) {
    get {
      let mark = word.load(ordering: .acquiring)
      return (styles[Int(mark >> 32)], Double(amount(ofMark: mark)))
    }
    set { word.store(Self.packed(newValue.style, newValue.amount), ordering: .releasing) }
  }

  private static func packed(_ style: MixStyle, _ amount: Double) -> UInt64 {
    let index = UInt64(MixStyle.allCases.firstIndex(of: style) ?? 0)
    let limited = amount.isNaN ? 0 : Float(max(0, min(1, amount)))
    return index << 32 | UInt64(limited.bitPattern)
  }

  /// Ends any fade and clears the state of the tuning's filters.
  public func reset() {
    follow()
    state.pointee.position = rampFrames
    speechTuning.reset()
    ambienceTuning.reset()
  }

  /// Mixes the next frames of the stream.
  ///
  /// - Parameters:
  ///   - stems: `channels` + `StemPlanes.count` planes.
  ///   - output: `outputs` planes, which may be the first planes of `stems`.
  ///   - frames: the number of frames.
  @_noLocks
  public func process(
    _ stems: UnsafePointer<UnsafeMutablePointer<Float>>,
    into output: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) {
    follow()
    if leavesTheFieldUnchanged, stems[0] == output[0] { return }
    var position = state.pointee.position
    var gains = position < rampFrames ? current(position) : state.pointee.end
    for i in 0..<frames {
      if position < rampFrames {
        position += 1
        gains = current(position)
      }
      if isNeutral, target.isField {
        mixField(stems, output, i, gains)
      } else {
        mixTuned(stems, output, i, gains)
      }
    }
    state.pointee.position = position
  }

  /// Whether the output is a soundfield in the style `standard`, and neither a fade nor a tuning
  /// changes it.
  private var leavesTheFieldUnchanged: Bool {
    @_noLocks get {
      guard isNeutral, target.isField, state.pointee.position >= rampFrames else { return false }
      return state.pointee.mark >> 32 == standardIndex
    }
  }

  /// Starts a fade if `value` has changed since the last call.
  @_noLocks
  private func follow() {
    let mark = word.load(ordering: .acquiring)
    guard mark != state.pointee.mark else { return }
    state.pointee.start = current(state.pointee.position)
    state.pointee.end = MixGains(
      styles[Int(mark >> 32)], amount: Double(amount(ofMark: mark)), target: target)
    state.pointee.position = 0
    state.pointee.mark = mark
  }

  @_noLocks
  private func current(_ position: Int) -> MixGains {
    if position >= rampFrames { return state.pointee.end }
    let share = Float(position) / Float(rampFrames)
    return state.pointee.start.mixed(with: state.pointee.end, share: share)
  }

  // MARK: One frame

  @_noLocks
  private func mixField(
    _ stems: UnsafePointer<UnsafeMutablePointer<Float>>,
    _ output: UnsafePointer<UnsafeMutablePointer<Float>>, _ i: Int, _ gains: MixGains
  ) {
    let extra = stems + channels
    let front = frontSpeech(extra, i, gains)
    let whole = gains.original + gains.field
    let (image, framed) = (gains.image + gains.fieldImage, gains.framed + gains.fieldFramed)
    for c in 0..<4 {
      let stemsOfChannel =
        image * extra[StemPlanes.image + c][i] + framed * extra[StemPlanes.framedImage + c][i]
        + gains.fieldStudio * extra[StemPlanes.studioImage + c][i]
      let speech = c == 0 || c == 3 ? front : 0
      output[c][i] = whole * stems[c][i] + (stemsOfChannel + speech)
    }
    for c in 4..<max(4, fieldChannels) { output[c][i] = whole * stems[c][i] }
    copyHeadLocked(stems, output, i)
  }

  @_noLocks
  private func frontSpeech(
    _ extra: UnsafePointer<UnsafeMutablePointer<Float>>, _ i: Int, _ gains: MixGains
  ) -> Float {
    gains.speech * extra[StemPlanes.image][i] + gains.studio * extra[StemPlanes.studioSpeech][i]
      + gains.framedSpeech * extra[StemPlanes.framedImage][i]
  }

  @_noLocks
  private func mixTuned(
    _ stems: UnsafePointer<UnsafeMutablePointer<Float>>,
    _ output: UnsafePointer<UnsafeMutablePointer<Float>>, _ i: Int, _ gains: MixGains
  ) {
    let extra = stems + channels
    let isField = target.isField
    let front = frontSpeech(extra, i, gains)
    for c in 0..<4 {
      let x = stems[c][i]
      let (image, framed) = (
        extra[StemPlanes.image + c][i], extra[StemPlanes.framedImage + c][i]
      )
      let stemsOfAmbience =
        gains.fieldImage * image + gains.fieldFramed * framed
        + gains.fieldStudio * extra[StemPlanes.studioImage + c][i]
      let ambience = tunedAmbience(gains.field, x, stemsOfAmbience, c)
      guard isField else {
        output[c][i] = ambience
        continue
      }
      let speech = gains.image * image + gains.framed * framed + (c == 0 || c == 3 ? front : 0)
      output[c][i] = gains.original * x + ambience + speechTuning.process(speech, c)
    }
    guard isField else {
      output[4][i] = speechTuning.process(front, 0)
      return
    }
    for c in 4..<max(4, fieldChannels) {
      let x = stems[c][i]
      output[c][i] = gains.original * x + tunedAmbience(gains.field, x, 0, c)
    }
    copyHeadLocked(stems, output, i)
  }

  @_noLocks
  private func copyHeadLocked(
    _ stems: UnsafePointer<UnsafeMutablePointer<Float>>,
    _ output: UnsafePointer<UnsafeMutablePointer<Float>>, _ i: Int
  ) {
    for c in fieldChannels..<channels { output[c][i] = stems[c][i] }
  }

  /// Returns one sample of a channel's ambience. If `x` is NaN or its magnitude exceeds 1e4, `x`
  /// bypasses the tuning.
  @_noLocks
  private func tunedAmbience(_ gain: Float, _ x: Float, _ rest: Float, _ c: Int) -> Float {
    let isValid = abs(x) <= 1e4
    let filtered = ambienceTuning.process((isValid ? gain * x : 0) + rest, c)
    return isValid ? filtered : gain * x + filtered
  }
}

@_noLocks
private func amount(ofMark mark: UInt64) -> Float {
  Float(bitPattern: UInt32(truncatingIfNeeded: mark))
}
