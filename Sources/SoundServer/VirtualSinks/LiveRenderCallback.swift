// SPDX-License-Identifier: Apache-2.0

/// The function that renders the sound of a virtual sink, and its context.
///
/// ## Threading
/// The function is called on the audio thread that plays its sound. It must not block or allocate.
package struct LiveRenderCallback: @unchecked Sendable {
  /// Renders the next frames.
  ///
  /// - Parameters:
  ///   - context: the callback's context.
  ///   - input: the interleaved samples of the sink's channels, `frameCount` x channels, full scale
  ///     1.0; nil for silence.
  ///   - output: `frameCount` x 2 samples to fill, left then right. Their initial content is
  ///     undefined.
  ///   - frameCount: 1 or more.
  ///   - presentationTimeNanoseconds: the CLOCK_MONOTONIC time at which the first frame of `output`
  ///     is expected to be heard [ns].
  package typealias Function =
    @convention(c) (
      _ context: UnsafeMutableRawPointer,
      _ input: UnsafePointer<Float>?,
      _ output: UnsafeMutablePointer<Float>,
      _ frameCount: Int,
      _ presentationTimeNanoseconds: Int64
    ) -> Void

  package let function: Function
  package let context: UnsafeMutableRawPointer
  private let owner: AnyObject

  /// Makes a callback for an object, which the virtual sink keeps alive and passes as the context.
  package init<Owner: AnyObject & Sendable>(owner: Owner, function: @escaping Function) {
    self.function = function
    self.owner = owner
    context = Unmanaged.passUnretained(owner).toOpaque()
  }
}
