// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

extension PlanarQueue {
  /// Appends the samples of a decoded frame as float32 with full scale 1.0. The frame must have
  /// `channels` channels.
  ///
  /// 8-, 16- and 24-bit integers and float32 are converted exactly. Wider samples are rounded to
  /// the nearest float32 (ties to even).
  ///
  /// - Returns: false if the sample format is not supported.
  func append(_ frame: UnsafeMutablePointer<AVFrame>) -> Bool {
    let format = AVSampleFormat(rawValue: frame.pointee.format)
    let isPlanar = av_sample_fmt_is_planar(format) != 0
    switch av_get_packed_sample_fmt(format) {
    case AV_SAMPLE_FMT_FLT: spread(frame, isPlanar) { (x: Float) in x }
    case AV_SAMPLE_FMT_DBL: spread(frame, isPlanar) { (x: Double) in Float(x) }
    case AV_SAMPLE_FMT_S16: spread(frame, isPlanar) { (x: Int16) in Float(x) * 0x1p-15 }
    case AV_SAMPLE_FMT_S32: spread(frame, isPlanar) { (x: Int32) in Float(x) * 0x1p-31 }
    case AV_SAMPLE_FMT_S64: spread(frame, isPlanar) { (x: Int64) in Float(x) * 0x1p-63 }
    case AV_SAMPLE_FMT_U8:
      spread(frame, isPlanar) { (x: UInt8) in (Float(x) - 128) * 0x1p-7 }
    default: return false
    }
    commit(Int(frame.pointee.nb_samples))
    return true
  }

  @inline(__always)
  private func spread<Sample>(
    _ frame: UnsafeMutablePointer<AVFrame>, _ isPlanar: Bool, _ convert: (Sample) -> Float
  ) {
    let frames = Int(frame.pointee.nb_samples)
    let stride = isPlanar ? 1 : channels
    for channel in 0..<channels {
      let plane = frame.pointee.extended_data[isPlanar ? channel : 0]!
      let input = UnsafeRawPointer(plane).assumingMemoryBound(to: Sample.self)
      let first = isPlanar ? 0 : channel
      let output = tail(channel, frames: frames)
      var index = 0
      while index < frames {
        output[index] = convert(input[index * stride + first])
        index += 1
      }
    }
  }
}
