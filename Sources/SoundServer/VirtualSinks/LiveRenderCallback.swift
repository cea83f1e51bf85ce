// SPDX-License-Identifier: Apache-2.0

/// The function that renders a virtual sink's sound, and its context.
///
/// ## Threading
/// The function is called on an audio thread. It must not block or allocate.
package struct LiveRenderCallback: @unchecked Sendable {
  /// Renders the next frames.
  ///
  /// - Parameters:
  ///   - context: a pointer to the owner of the callback.
  ///   - input: the sink's interleaved samples, `frameCount` x channels, full scale 1.0; nil for
  ///     silence.
  ///   - output: `frameCount` x 2 samples to fill, left then right. Their initial content is
  ///     undefined.
  ///   - frameCount: 1 or more.
  ///   - presentationTimeNanoseconds: the time at which the first frame of `output` is expected to
  ///     be heard, in CLOCK_MONOTONIC nanoseconds.
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

  /// Makes a callback for an object. The callback keeps the object alive, and the virtual sink
  /// passes a pointer to the object as the context.
  package init<Owner: AnyObject & Sendable>(owner: Owner, function: @escaping Function) {
    self.function = function
    self.owner = owner
    context = Unmanaged.passUnretained(owner).toOpaque()
  }
}
