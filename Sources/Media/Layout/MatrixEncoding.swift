// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

/// The matrix encoding that a coded stream indicates.
public enum MatrixEncoding: String, Sendable, CaseIterable {
  /// Dolby Surround: left, centre, right and one surround channel, encoded in two channels.
  case dolbySurround = "Dolby Surround"
  case proLogicII = "Pro Logic II"
  case proLogicIIx = "Pro Logic IIx"
  case proLogicIIz = "Pro Logic IIz"
  /// A back centre channel, encoded in the two surround channels.
  case surroundEX = "Surround EX"
  /// Two channels that were made for headphones.
  case dolbyHeadphone = "Dolby Headphone"

  init?(_ encoding: AVMatrixEncoding) {
    switch encoding {
    case AV_MATRIX_ENCODING_DOLBY: self = .dolbySurround
    case AV_MATRIX_ENCODING_DPLII: self = .proLogicII
    case AV_MATRIX_ENCODING_DPLIIX: self = .proLogicIIx
    case AV_MATRIX_ENCODING_DPLIIZ: self = .proLogicIIz
    case AV_MATRIX_ENCODING_DOLBYEX: self = .surroundEX
    case AV_MATRIX_ENCODING_DOLBYHEADPHONE: self = .dolbyHeadphone
    default: return nil
    }
  }

  /// Reads the matrix encoding of a decoded frame; nil if there is none.
  init?(of frame: UnsafeMutablePointer<AVFrame>) {
    guard let side = av_frame_get_side_data(frame, AV_FRAME_DATA_MATRIXENCODING)?.pointee,
      let data = side.data, side.size >= MemoryLayout<UInt32>.size
    else { return nil }
    let value = UnsafeRawPointer(data).loadUnaligned(as: UInt32.self)
    self.init(AVMatrixEncoding(value))
  }
}
