// SPDX-License-Identifier: Apache-2.0

// What the public interface names, so that `import Playback` is enough.
@_exported public import Ambisonics
@_exported public import Binaural
@_exported public import Geometry
@_exported public import HeadTracking
@_exported public import Media
@_exported public import PulseAudio

@_exported public import struct SignalProcessing.LevelMeter
