// SPDX-License-Identifier: Apache-2.0

// Types of other modules in the public interface. Clients need to import only `Capture`.
@_exported public import enum Ambisonics.ChannelLayout
@_exported public import struct SoundServer.DevicePort
@_exported public import enum SoundServer.DeviceState
@_exported public import enum SoundServer.SampleEncoding
@_exported public import enum SoundServer.SoundServerError
@_exported public import struct SoundServer.Source
