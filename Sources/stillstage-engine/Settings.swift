// SPDX-License-Identifier: Apache-2.0

import Binaural
import CommandOptions
import Geometry
import HeadTracking
import Media
import Playback

extension RenderSettings {
  /// The options that `play` and `render` share.
  init(_ command: ParsedCommand) throws(CommandFailure) {
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
    spatialization = Spatialization(rawValue: command[Options.spatialize].rawValue) ?? .all
    dynamicRange = DynamicRange(rawValue: command[Options.dynamicRange].rawValue) ?? .line
    upmix = Upmix(rawValue: command[Options.upmix].rawValue) ?? .on
    gainDecibels = command[Options.gain]
    blockFrames = command[Options.block]
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

/// The recorded or fixed head that a command line asks for; nil where it asks for none.
func recordedHead(_ command: ParsedCommand) throws(CommandFailure) -> HeadTrajectory? {
  guard let path = command[Options.motion] else { return nil }
  do throws(HeadTrackingError) {
    return try MotionFile.read(path)
  } catch { throw CommandFailure(error.description) }
}

extension PoseAngles {
  var quaternion: Quaternion {
    YawPitchRoll(yaw: yawDegrees, pitch: pitchDegrees, roll: rollDegrees).quaternion
  }
}

/// Runs what may fail in the engine and turns its errors into a command's.
func playing<Value>(
  _ body: () throws(PlaybackError) -> Value
) throws(CommandFailure) -> Value {
  do throws(PlaybackError) {
    return try body()
  } catch .interrupted {
    throw .interrupted
  } catch .directNeedsSpeakers {
    throw .usage(PlaybackError.directNeedsSpeakers.description)
  } catch .parametricNeedsHeadphones {
    throw .usage(PlaybackError.parametricNeedsHeadphones.description)
  } catch .notFirstOrder {
    throw .usage(PlaybackError.notFirstOrder.description)
  } catch {
    throw CommandFailure(error.description)
  }
}
