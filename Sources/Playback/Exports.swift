// SPDX-License-Identifier: Apache-2.0

@_exported public import Rendering
@_exported public import SoundSources

// Export the types that the public interface names, so that `import Playback` is enough.
@_exported public import enum Ambisonics.AmbisonicConvention
@_exported public import enum Ambisonics.ChannelLayout
@_exported public import enum Ambisonics.Speaker
@_exported public import struct AudioMix.MixSettings
@_exported public import enum AudioMix.MixStyle
@_exported public import struct AudioMix.MixTuning
@_exported public import struct AudioMix.NeuralSeparatorFiles
@_exported public import struct Binaural.BinauralFilters
@_exported public import struct Binaural.DecoderDesign
@_exported public import enum Binaural.HRTFError
@_exported public import struct Binaural.HRTFSet
@_exported public import struct Binaural.HeadphoneProfile
@_exported public import struct Binaural.RigidSphereHead
@_exported public import struct Binaural.SofaLoader
@_exported public import struct Geometry.Direction
@_exported public import struct Geometry.Quaternion
@_exported public import struct Geometry.YawPitchRoll
@_exported public import enum HLS.KeepingError
@_exported public import enum HLS.PresentationError
@_exported public import struct HLS.RenditionWishes
@_exported public import enum HLS.TreatmentPreference
@_exported public import struct HeadTracking.AxisMap
@_exported public import struct HeadTracking.FusionSettings
@_exported public import struct HeadTracking.HIDUsage
@_exported public import class HeadTracking.HeadPoseSource
@_exported public import struct HeadTracking.HeadPoseStatus
@_exported public import struct HeadTracking.HeadSample
@_exported public import enum HeadTracking.HeadTrackingError
@_exported public import struct HeadTracking.HeadTrajectory
@_exported public import enum HeadTracking.MotionFile
@_exported public import struct HeadTracking.TrackerDescription
@_exported public import enum HeadTracking.TrackerEvent
@_exported public import enum HeadTracking.TrackerKind
@_exported public import struct HeadTracking.TrackerList
@_exported public import struct HeadTracking.TrackerProfile
@_exported public import struct HeadTracking.TrackerSettings
@_exported public import struct Loudness.LoudnessKnowledge
@_exported public import struct Loudness.LoudnessMeasurement
@_exported public import struct Loudness.LoudnessTarget
@_exported public import class Media.AudioFileReader
@_exported public import struct Media.AudioTrack
@_exported public import enum Media.DynamicRange
@_exported public import class Media.InterruptFlag
@_exported public import enum Media.LayoutOption
@_exported public import enum Media.MatrixEncoding
@_exported public import enum Media.MediaError
@_exported public import struct Media.StatedLoudness
@_exported public import class Media.WAVWriter
@_exported public import struct SignalProcessing.LevelMeter
@_exported public import struct SignalProcessing.ParametricFilter
@_exported public import struct SoundServer.AudioOutputEvent
@_exported public import enum SoundServer.AudioOutputState
@_exported public import struct SoundServer.AudioOutputStatus
@_exported public import enum SoundServer.QueueRewriting
@_exported public import enum SoundServer.RewritingChoice
@_exported public import struct SoundServer.Sink
@_exported public import enum SoundServer.SoundServerError
@_exported public import struct UserFiles.UserFileError
@_exported public import struct UserFiles.UserFolder
