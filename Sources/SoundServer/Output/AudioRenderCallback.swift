// SPDX-License-Identifier: Apache-2.0

/// The function that renders the audio, and its context.
///
/// It is a C function with a context, not a Swift closure, because calling a stored closure retains
/// its context.
///
/// ## Threading
/// The function is called on the output's own thread, at the server's request or when the output
/// tops up the queue, and writes directly into the memory that is sent to the server. It must not
/// block, allocate or call the output, except for `refresh`.
public struct AudioRenderCallback: @unchecked Sendable {
  /// Renders the next frames.
  ///
  /// - Parameters:
  ///   - context: the callback's context.
  ///   - interleaved: `frameCount` x 2 samples to fill, left then right, full scale 1.0. Their
  ///     initial content is undefined.
  ///   - frameCount: 1 or more.
  ///   - presentationTimeNanoseconds: the CLOCK_MONOTONIC time at which the first of these frames
  ///     is expected to be heard [ns]; it never decreases, except after a flush or on a new stream.
  public typealias Function =
    @convention(c) (
      _ context: UnsafeMutableRawPointer,
      _ interleaved: UnsafeMutablePointer<Float>,
      _ frameCount: Int,
      _ presentationTimeNanoseconds: Int64
    ) -> Void

  /// Renders `frameCount` frames again, beginning `framesBack` frames (at least `frameCount`)
  /// before the end of the sound that `Function` has rendered so far.
  ///
  /// It is called on the same thread as `Function`, never at the same time. The piece must join the
  /// queued sound before and after it without a click.
  ///
  /// - Parameters:
  ///   - context: the callback's context.
  ///   - interleaved: `frameCount` x 2 samples to fill, left then right, full scale 1.0. Their
  ///     initial content is undefined.
  ///   - framesBack: the number of frames from the start of the piece to the end of the sound that
  ///     was rendered.
  ///   - frameCount: 1 or more.
  ///   - presentationTimeNanoseconds: the CLOCK_MONOTONIC time at which the first of these frames
  ///     is expected to be heard [ns].
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

  /// Obtains the sound for the next frames. Called before each call of `Function`, with the same
  /// number of frames. Unlike `Function`, it may make system calls and wait for a short time.
  package typealias PrepareFunction =
    @convention(c) (_ context: UnsafeMutableRawPointer, _ frameCount: Int) -> Void

  package let function: Function
  /// Called only by the PulseAudio output.
  package var prepare: PrepareFunction?
  package let rewrite: RewriteFunction?
  package let context: UnsafeMutableRawPointer
  private let owner: AnyObject?

  /// Makes a callback whose `context` the caller keeps valid until the output is stopped.
  public init(context: UnsafeMutableRawPointer, function: @escaping Function) {
    self.function = function
    self.rewrite = nil
    self.context = context
    self.owner = nil
  }

  /// Makes a callback for an object, which the output keeps alive and passes as the context:
  /// `Unmanaged<Owner>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.render(...) }`.
  public init<Owner: AnyObject & Sendable>(owner: Owner, function: @escaping Function) {
    self.init(owner: owner, function: function, rewrite: nil)
  }

  /// Like `init(owner:function:)`, but for a source that can render queued sound again.
  ///
  /// - Parameter rewrite: renders queued sound again; nil if the queue is never rewritten.
  public init<Owner: AnyObject & Sendable>(
    owner: Owner, function: @escaping Function, rewrite: RewriteFunction?
  ) {
    self.function = function
    self.rewrite = rewrite
    self.context = Unmanaged.passUnretained(owner).toOpaque()
    self.owner = owner
  }
}
