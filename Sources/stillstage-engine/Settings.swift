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
    hrtfPath = command[Options.hrtf]
    equalisation = command[Options.hrtfEqualization] == .diffuse ? .diffuse : .none
    method = command[Options.decoder] == .ls ? .leastSquares : .magnitudeLeastSquares
    busOrder = command[Options.order]
    do throws(MediaError) {
      layout = try LayoutOption(command[Options.layout].rawValue)
    } catch { throw .usage(error.description) }
    track = command[Options.track]
    spatialization = Spatialization(rawValue: command[Options.spatialize].rawValue) ?? .all
    gainDecibels = command[Options.gain]
    blockFrames = command[Options.block]
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
  } catch {
    throw CommandFailure(error.description)
  }
}
