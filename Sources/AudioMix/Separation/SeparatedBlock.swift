// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing

/// Buffers for a block of separated sound.
///
/// Each of the four soundfields is 4 channels x frames, in ACN order (W, Y, Z, X) and SN3D scale.
/// All have the same delay. The ambience is `field` minus `image`, and the speech is `image[0]`.
///
/// ## Threading
/// Use a block from one thread at a time.
public final class SeparatedBlock: @unchecked Sendable {
  /// The largest number of frames in a block.
  public let capacity: Int
  private let samples: PlanarScratch

  /// The delayed input.
  public var field: UnsafeMutablePointer<UnsafeMutablePointer<Float>> { samples.planes }
  /// The first-order image of all talkers; C in `MixGains`.
  public var image: UnsafeMutablePointer<UnsafeMutablePointer<Float>> { samples.planes + 4 }
  /// The first-order image of the talkers inside the field of view; C_f in `MixGains`.
  public var framedImage: UnsafeMutablePointer<UnsafeMutablePointer<Float>> { samples.planes + 8 }
  /// The first-order image of all talkers with less late reverberation; D in `MixGains`.
  public var studioImage: UnsafeMutablePointer<UnsafeMutablePointer<Float>> { samples.planes + 12 }

  /// Allocates the buffers for at most `capacity` frames.
  public init(capacity: Int) {
    self.capacity = capacity
    samples = PlanarScratch(channels: 16, frames: capacity)
  }
}
