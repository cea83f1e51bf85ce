// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing

/// Buffers for one piece of separated sound.
///
/// All parts have the same delay. The ambience is `field` minus `image`, and the speech is
/// `image[0]`, so neither has a buffer of its own. Each part is planar, 4 channels x frames, in ACN
/// order (W, Y, Z, X) with SN3D scale.
///
/// ## Threading
/// Use a block from one thread at a time.
public final class SeparatedBlock: @unchecked Sendable {
  /// The largest number of frames.
  public let capacity: Int
  private let samples: PlanarScratch

  /// The input, delayed.
  public var field: UnsafeMutablePointer<UnsafeMutablePointer<Float>> { samples.planes }
  /// The first-order image of the talkers, C.
  public var image: UnsafeMutablePointer<UnsafeMutablePointer<Float>> { samples.planes + 4 }
  /// The first-order image of the talkers inside the field of view, C_f.
  public var framedImage: UnsafeMutablePointer<UnsafeMutablePointer<Float>> { samples.planes + 8 }
  /// The first-order image of the talkers with less late reverberation, D. Its W channel is S_d
  /// before the low shelf.
  public var studioImage: UnsafeMutablePointer<UnsafeMutablePointer<Float>> { samples.planes + 12 }

  /// Allocates the buffers.
  ///
  /// - Parameter capacity: the largest number of frames.
  public init(capacity: Int) {
    self.capacity = capacity
    samples = PlanarScratch(channels: 16, frames: capacity)
  }
}
