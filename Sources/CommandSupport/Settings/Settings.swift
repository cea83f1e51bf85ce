// SPDX-License-Identifier: Apache-2.0

import Binaural
package import CommandOptions
package import Geometry
package import HeadTracking
import Media
package import Rendering

extension RenderSettings {
  /// Reads the rendering options of a command. An option that the command does not have keeps its
  /// default.
  package init(_ command: ParsedCommand) throws(CommandFailure) {
    self.init()
    hrtfPath = hrtfFile(command)
    if command[Options.speakers] {
      playback = .loudspeakers(angle: command[Options.speakerAngle] * .pi / 180)
    }
    headphones = try headphoneProfile(command)
    headCircumference = command[Options.headCircumference].map { $0 / 100 }
    equalisation = command[Options.hrtfEqualization] == .diffuse ? .diffuse : .none
    method = DecoderDesign.Method(command[Options.decoder])
    isDirect = command[Options.decoder] == .direct
    isParametric = command[Options.decoder] == .parametric
    busOrder = command[Options.order]
    layout = try Self.layout(command[Options.layout])
    track = command[Options.track]
    spatialization = Spatialization(command[Options.spatialize])
    dynamicRange = DynamicRange(command[Options.dynamicRange])
    upmix = Upmix(command[Options.upmix])
    gainDecibels = command[Options.gain]
    blockFrames = command[Options.block]
    try readMix(command)
  }

  /// Reads the rendering options of `sink`.
  package init(ofSink command: ParsedCommand) throws(CommandFailure) {
    try self.init(command)
    upmix = Upmix(command[Options.sinkUpmix])
  }

  /// Reads the rendering options of `record` and `listen`. Their `--gain` applies to the input, not
  /// to the rendered sound.
  package init(ofListening command: ParsedCommand) throws(CommandFailure) {
    try self.init(command)
    (upmix, gainDecibels) = (.off, 0)
  }

  private static func layout(_ text: String) throws(CommandFailure) -> LayoutOption {
    do throws(MediaError) {
      return try LayoutOption(text)
    } catch {
      let names = LayoutOption.names
      let expectation =
        "\(names.joined(separator: ", ")) or a list of loudspeakers such as FL+FR+LFE"
      throw .usage(
        Options.layout.refusal(of: text, expectation: expectation, among: names).description)
    }
  }
}

extension DecoderDesign.Method {
  package init(_ choice: DecoderChoice) {
    self =
      switch choice {
      case .magls, .direct: .magnitudeLeastSquares
      case .ls: .leastSquares
      case .maglsCov: .covarianceConstrained
      // The design for the residual: the sound that is not part of any estimated plane wave.
      case .parametric: .magnitudeLeastSquares
      }
  }
}

extension Spatialization {
  fileprivate init(_ choice: SpatializeChoice) {
    switch choice {
    case .monoStereo: self = .monoAndStereo
    case .multichannel: self = .multichannel
    case .all: self = .all
    case .off: self = .off
    }
  }
}

extension DynamicRange {
  fileprivate init(_ choice: DynamicRangeChoice) {
    switch choice {
    case .line: self = .line
    case .rf: self = .rf
    case .off: self = .off
    }
  }
}

extension Upmix {
  fileprivate init(_ choice: UpmixChoice) {
    switch choice {
    case .on: self = .on
    case .off: self = .off
    case .lowLatency: self = .lowLatency
    }
  }
}

/// Returns the head motion that `--motion` names; nil if the option is not set.
///
/// - Throws: a failure if the file cannot be read or is invalid; `interrupted` after a signal.
package func recordedHead(_ command: ParsedCommand) throws(CommandFailure) -> HeadTrajectory? {
  guard let path = command[Options.motion] else { return nil }
  do throws(HeadTrackingError) {
    return try MotionFile.read(path, monitor: .showing("read"))
  } catch { throw CommandFailure(reading: error) }
}

extension PoseAngles {
  package var quaternion: Quaternion {
    YawPitchRoll(yaw: yawDegrees, pitch: pitchDegrees, roll: rollDegrees).quaternion
  }
}

/// Runs `body` and converts its errors to command failures.
package func playing<Value>(
  _ body: () throws(PlaybackError) -> Value
) throws(CommandFailure) -> Value {
  do throws(PlaybackError) {
    return try body()
  } catch {
    switch error {
    case .interrupted: throw .interrupted
    case .directNeedsSpeakers, .parametricNeedsHeadphones, .notFirstOrder:
      throw .usage(error.optionText)
    case .opening(let error): throw CommandFailure(error.text)
    case .media, .hrtf, .tracking, .output, .noHeadSize, .decoderIsLater, .stream,
      .mixNeedsSoundfield, .mixTuning, .neuralSeparator:
      throw CommandFailure(error.optionText)
    }
  }
}
