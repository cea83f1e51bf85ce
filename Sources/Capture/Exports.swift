// SPDX-License-Identifier: Apache-2.0

// The types that the public interface names, so that `import Capture` is enough.
@_exported public import enum Ambisonics.ChannelLayout
@_exported public import struct SoundServer.DevicePort
@_exported public import enum SoundServer.DeviceState
@_exported public import enum SoundServer.SampleEncoding
@_exported public import enum SoundServer.SoundServerError
@_exported public import struct SoundServer.Source
