// SPDX-License-Identifier: Apache-2.0

// The public interface uses these types from other modules. They are re-exported, so clients
// need to import only `Capture`.
@_exported public import enum Ambisonics.ChannelLayout
@_exported public import struct SoundServer.DevicePort
@_exported public import enum SoundServer.DeviceState
@_exported public import enum SoundServer.SampleEncoding
@_exported public import enum SoundServer.SoundServerError
@_exported public import struct SoundServer.Source
