// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

/// Converts frames to another number of channels.
///
/// If both layouts are in FFmpeg's native channel order and libswresample supports them, the
/// channels are mixed with libswresample's default matrix. Otherwise, they are copied by index:
/// surplus input channels are dropped, and missing output channels are silent.
final class ChannelRemix {
  /// The frames to convert; `process` empties this queue.
  let input: PlanarQueue
  private var context: OpaquePointer?

  init(from input: AVChannelLayout, to output: AVChannelLayout, sampleRate: Int32) {
    self.input = PlanarQueue(channels: Int(input.nb_channels))
    guard input.order == AV_CHANNEL_ORDER_NATIVE, output.order == AV_CHANNEL_ORDER_NATIVE else {
      return
    }
    var input = input
    var output = output
    let result = swr_alloc_set_opts2(
      &context, &output, AV_SAMPLE_FMT_FLTP, sampleRate, &input, AV_SAMPLE_FMT_FLTP, sampleRate,
      0, nil)
    if result < 0 || swr_init(context) < 0 { swr_free(&context) }
  }

  deinit { swr_free(&context) }

  /// Converts all frames of `input`, empties it, and appends the result to `output`.
  func process(into output: PlanarQueue) {
    let frames = input.count
    guard frames > 0 else { return }
    if let context {
      let planes = output.tailPlanes(frames: frames)
      let made = UnsafeMutableRawPointer(input.headPlanes())
        .withMemoryRebound(to: UnsafePointer<UInt8>?.self, capacity: input.channels) {
          swr_convert(context, planes, Int32(frames), $0, Int32(frames))
        }
      output.commit(max(0, Int(made)))
    } else {
      for channel in 0..<output.channels {
        let tail = output.tail(channel, frames: frames)
        if channel < input.channels {
          tail.update(from: input.plane(channel), count: frames)
        } else {
          tail.update(repeating: 0, count: frames)
        }
      }
      output.commit(frames)
    }
    input.consume(frames)
  }
}
