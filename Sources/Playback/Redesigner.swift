// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Binaural
internal import HeadTracking
internal import Synchronization

/// Designs other decoders for a renderer that plays, on a thread of its own, the newest wish last.
final class Redesigner: Sendable {
  private struct State {
    var wish: RenderSettings?
    var worker: Worker?
  }

  private let renderer: Renderer
  private let layout: ChannelLayout
  private let state = Mutex(State())
  private let tell: @Sendable (PlayerEvent) -> Void

  init(
    renderer: Renderer, layout: ChannelLayout, tell: @escaping @Sendable (PlayerEvent) -> Void
  ) {
    (self.renderer, self.layout, self.tell) = (renderer, layout, tell)
  }

  func wish(_ settings: RenderSettings) {
    state.withLock { state in
      state.wish = settings
      guard state.worker == nil else { return }
      let worker = Worker()
      state.worker = worker
      worker.start { [self] in run(worker) }
    }
  }

  /// Ends the thread, after the design that it is at.
  func stop() {
    let worker = state.withLock { state in
      state.wish = nil
      return state.worker
    }
    worker?.stop()
  }

  private func run(_ worker: Worker) {
    while !worker.isStopped {
      let wish = state.withLock { state in
        defer { state.wish = nil }
        return state.wish
      }
      if let wish { design(wish) }
      worker.sleep(milliseconds: 50)
      renderer.collectRetired()
    }
  }

  private func design(_ settings: RenderSettings) {
    do throws(PlaybackError) {
      let hrtf = try HRTFChoice(path: settings.hrtfPath)
      let filters = try hrtf.filters(
        for: layout, settings: settings, sampleRate: renderer.sampleRate)
      for note in hrtf.notes { tell(.warning(note)) }
      renderer.exchange(filters: filters, busOrder: settings.busOrder)
      tell(.decoderChanged(settings))
    } catch { tell(.decoderKept(settings, error)) }
  }
}
