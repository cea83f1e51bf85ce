// SPDX-License-Identifier: Apache-2.0

internal import Rendering
internal import SoundServer
internal import SoundSources

/// The callbacks that supply an output with sound.
///
/// ## Threading
/// The output calls their functions on its audio thread.
extension RenderFeed {
  /// The callback that renders the next frames.
  var callback: AudioRenderCallback {
    AudioRenderCallback(owner: self, function: Self.renderNext)
  }

  /// The callback that can also render queued sound again for a newer head pose.
  var rewritingCallback: AudioRenderCallback {
    AudioRenderCallback(
      owner: self, function: Self.renderNext,
      rewrite: { context, samples, framesBack, frames, time in
        Unmanaged<RenderFeed>.fromOpaque(context)._withUnsafeGuaranteedRef {
          $0.rewrite(samples, framesBack: framesBack, frames: frames, time: time)
        }
      })
  }

  private static let renderNext: AudioRenderCallback.Function = {
    context, samples, frames, time in
    Unmanaged<RenderFeed>.fromOpaque(context)._withUnsafeGuaranteedRef {
      $0.render(samples, frames: frames, time: time)
    }
  }
}
