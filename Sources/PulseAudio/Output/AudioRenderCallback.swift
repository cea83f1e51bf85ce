// SPDX-License-Identifier: Apache-2.0

/// The function that makes the audio, and what it works on.
///
/// A C function with a context, not a Swift closure, because calling a stored closure retains its
/// context.
///
/// ## Threading
/// The function is called on the output's own thread, in the server's write request, straight into
/// the memory that goes to the server. It must not block, allocate or call the output.
public struct AudioRenderCallback: @unchecked Sendable {
  /// - Parameters:
  ///   - context: what the callback was made with.
  ///   - interleaved: `frameCount` x 2 samples to fill, left then right, full scale 1.0. They hold
  ///     anything before.
  ///   - frameCount: 1 or more.
  ///   - presentationTimeNanoseconds: CLOCK_MONOTONIC time at which the first of these frames is
  ///     expected to be heard [ns]; never decreases but for a flush.
  public typealias Function =
    @convention(c) (
      _ context: UnsafeMutableRawPointer,
      _ interleaved: UnsafeMutablePointer<Float>,
      _ frameCount: Int,
      _ presentationTimeNanoseconds: Int64
    ) -> Void

  /// Renders again `frameCount` frames that begin `framesBack` frames (>= `frameCount`) before the
  /// end of what `Function` has rendered so far.
  ///
  /// Called on the same thread as `Function`, never at the same time. The piece joins what is
  /// queued before and after it without a click.
  ///
  /// - Parameters:
  ///   - context: what the callback was made with.
  ///   - interleaved: `frameCount` x 2 samples to fill, left then right, full scale 1.0. They hold
  ///     anything before.
  ///   - framesBack: where the piece begins, counted back from the end of what was rendered.
  ///   - frameCount: 1 or more.
  ///   - presentationTimeNanoseconds: CLOCK_MONOTONIC time at which the first of these frames is
  ///     expected to be heard [ns].
  /// - Returns: how many frames from the start of `interleaved` are to be written over what is
  ///   queued; 0 where the queue is good as it is.
  public typealias RewriteFunction =
    @convention(c) (
      _ context: UnsafeMutableRawPointer,
      _ interleaved: UnsafeMutablePointer<Float>,
      _ framesBack: Int,
      _ frameCount: Int,
      _ presentationTimeNanoseconds: Int64
    ) -> Int

  let function: Function
  let rewrite: RewriteFunction?
  let context: UnsafeMutableRawPointer
  private let owner: AnyObject?

  /// The caller keeps `context` valid until the output is stopped.
  public init(context: UnsafeMutableRawPointer, function: @escaping Function) {
    self.function = function
    self.rewrite = nil
    self.context = context
    self.owner = nil
  }

  /// `owner` is kept alive by the output and arrives as the context:
  /// `Unmanaged<Owner>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.render(...) }`.
  public init<Owner: AnyObject & Sendable>(owner: Owner, function: @escaping Function) {
    self.init(owner: owner, function: function, rewrite: nil)
  }

  /// As `init(owner:function:)`, of a source that can render again what is queued.
  ///
  /// - Parameter rewrite: nil: what is queued stays as it is.
  public init<Owner: AnyObject & Sendable>(
    owner: Owner, function: @escaping Function, rewrite: RewriteFunction?
  ) {
    self.function = function
    self.rewrite = rewrite
    self.context = Unmanaged.passUnretained(owner).toOpaque()
    self.owner = owner
  }
}
