// SPDX-License-Identifier: Apache-2.0

/// The functions that render the audio, and their context.
///
/// They are C functions with a context, because a call of a stored Swift closure retains the
/// closure's context.
///
/// ## Threading
/// The functions are called on the output's own thread. Only `prepare` may block or allocate. Of
/// the output's functions, they may call only `refresh`.
public struct AudioRenderCallback: @unchecked Sendable {
  /// Renders the next frames.
  ///
  /// - Parameters:
  ///   - context: the callback's context.
  ///   - interleaved: `frameCount` x 2 samples to fill, left then right, full scale 1.0. Their
  ///     initial content is undefined.
  ///   - frameCount: 1 or more.
  ///   - presentationTimeNanoseconds: the time at which the first frame is expected to be heard,
  ///     in CLOCK_MONOTONIC nanoseconds.
  public typealias Function =
    @convention(c) (
      _ context: UnsafeMutableRawPointer,
      _ interleaved: UnsafeMutablePointer<Float>,
      _ frameCount: Int,
      _ presentationTimeNanoseconds: Int64
    ) -> Void

  /// Renders queued frames again.
  ///
  /// The call is made on the same thread as calls of `Function`. Where the new sound differs from
  /// the queued sound at the start or the end of the window, the output crossfades the two.
  ///
  /// - Parameters:
  ///   - context: the callback's context.
  ///   - interleaved: `frameCount` x 2 samples to fill, left then right, full scale 1.0. Their
  ///     initial content is undefined.
  ///   - framesBack: the number of frames from the start of the window to the end of the rendered
  ///     sound; at least `frameCount`.
  ///   - frameCount: 1 or more.
  ///   - presentationTimeNanoseconds: the time at which the first frame is expected to be heard,
  ///     in CLOCK_MONOTONIC nanoseconds.
  /// - Returns: the number of frames from the start of `interleaved` that replace queued sound; 0
  ///   if the queue needs no change.
  public typealias RewriteFunction =
    @convention(c) (
      _ context: UnsafeMutableRawPointer,
      _ interleaved: UnsafeMutablePointer<Float>,
      _ framesBack: Int,
      _ frameCount: Int,
      _ presentationTimeNanoseconds: Int64
    ) -> Int

  /// Obtains the sound for the next call of `Function`. This function may make system calls and
  /// wait for a short time.
  package typealias PrepareFunction =
    @convention(c) (_ context: UnsafeMutableRawPointer, _ frameCount: Int) -> Void

  package let function: Function
  /// Only the PulseAudio output calls this function.
  package var prepare: PrepareFunction?
  package let rewrite: RewriteFunction?
  package let context: UnsafeMutableRawPointer
  private let owner: AnyObject?

  /// Makes a callback. The caller keeps `context` valid until the output is stopped.
  public init(context: UnsafeMutableRawPointer, function: @escaping Function) {
    self.function = function
    self.rewrite = nil
    self.context = context
    self.owner = nil
  }

  /// Makes a callback for an object, which the output keeps alive and passes as the context.
  public init<Owner: AnyObject & Sendable>(owner: Owner, function: @escaping Function) {
    self.init(owner: owner, function: function, rewrite: nil)
  }

  /// Makes a callback for an object, which the output keeps alive and passes as the context.
  ///
  /// - Parameter rewrite: renders queued sound again; nil if the object cannot.
  public init<Owner: AnyObject & Sendable>(
    owner: Owner, function: @escaping Function, rewrite: RewriteFunction?
  ) {
    self.function = function
    self.rewrite = rewrite
    self.context = Unmanaged.passUnretained(owner).toOpaque()
    self.owner = owner
  }
}
