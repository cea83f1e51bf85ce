// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import CommandSupport
import Laboratory

/// Runs the measurement that the command names. Any other command is a usage error.
func perform(_ command: ParsedCommand) throws(CommandFailure) {
  switch command.name {
  // After a signal, these commands delete temporary folders, end other programs or first finish a
  // row. Each of these actions can take longer than the usual limit of 0.4 s.
  case .benchLatency, .benchTrackingError, .benchUpmix: SignalDeadline.allow(milliseconds: 1500)
  default: break
  }
  switch command.name {
  case .benchRender: try benchRenderCommand(command)
  case .benchFusion: try benchFusionCommand(command)
  case .benchPrediction: try benchPredictionCommand(command)
  case .benchLatency: try benchLatencyCommand(command)
  case .benchTrackingError: try benchTrackingErrorCommand(command)
  case .benchSpeakers: try benchSpeakersCommand(command)
  case .benchUpmix: try benchUpmixCommand(command)
  case .benchMix: try benchMixCommand(command)
  case .benchAdaptation: try benchAdaptationCommand(command)
  default: throw .usage("'\(command.name.rawValue)' is not a measurement; run it with stillstage")
  }
}
