// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Binaural
private import Media
internal import Rendering
internal import SoundSources
internal import Synchronization
internal import System

/// Designs a renderer's decoders on a separate thread. A newer request replaces a waiting request.
final class Redesigner: Sendable {
  private struct Wish {
    let settings: RenderSettings
    let isTold: Bool
    let arrived: @Sendable (RenderSettings) -> Void
  }

  private struct State {
    var wish: Wish?
    var worker: Worker?
    /// Cancels the design in progress.
    var interrupt: InterruptFlag?
    var isStopped = false
    var told: Set<String>
  }

  private let renderer: Renderer
  private let layout: ChannelLayout
  private let state: Mutex<State>
  private let tell: @Sendable (PlayerEvent) -> Void

  /// - Parameter told: notes that the listener already knows.
  init(
    renderer: Renderer, layout: ChannelLayout, told: [String] = [],
    tell: @escaping @Sendable (PlayerEvent) -> Void
  ) {
    state = Mutex(State(told: Set(told)))
    (self.renderer, self.layout, self.tell) = (renderer, layout, tell)
  }

  /// Requests a decoder.
  ///
  /// - Parameters:
  ///   - isTold: whether `.decoderChanged` reports the new decoder. A failure is always reported.
  ///   - arrived: called on the redesigner's thread when only the new decoder is audible, or about
  ///     1 s after the renderer has received it, whichever is earlier. If `stop` is called during
  ///     this wait, `arrived` is called at once. `arrived` is not called if a newer request
  ///     replaces this one before its design begins, if the new decoder cannot be designed or used,
  ///     or if `stop` cancels the design.
  func wish(
    _ settings: RenderSettings, isTold: Bool,
    arrived: @escaping @Sendable (RenderSettings) -> Void
  ) {
    state.withLock { state in
      state.wish = Wish(settings: settings, isTold: isTold, arrived: arrived)
      guard state.worker == nil, !state.isStopped else { return }
      let worker = Worker()
      state.worker = worker
      worker.start { [self] in run(worker) }
    }
  }

  /// Cancels the design in progress and ends the thread.
  func stop() {
    let worker = state.withLock { state in
      state.wish = nil
      state.isStopped = true
      state.interrupt?.raise()
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
      if let wish { design(wish, worker) }
      worker.sleep(milliseconds: 50)
      renderer.collectRetired()
    }
  }

  private func design(_ wish: Wish, _ worker: Worker) {
    let settings = wish.settings
    let interrupt = InterruptFlag()
    let isStopped = state.withLock { state in
      state.interrupt = interrupt
      return state.isStopped
    }
    if isStopped { return }
    do throws(PlaybackError) {
      let hrtf = try HRTFChoice(path: settings.hrtfPath, interrupt: interrupt)
      let filters = try hrtf.filters(
        for: layout, settings: settings, sampleRate: renderer.sampleRate)
      // Report each note only once.
      let fresh = state.withLock { state in
        hrtf.notes.filter { state.told.insert($0).inserted }
      }
      for note in fresh { tell(.warning(note)) }
      guard renderer.exchange(filters: filters, busOrder: settings.busOrder) else {
        throw .decoderIsLater
      }
      if wish.isTold { tell(.decoderChanged(settings)) }
      awaitArrival(worker)
      wish.arrived(settings)
    } catch .interrupted {
      return
    } catch { tell(.decoderKept(settings, reason: error)) }
  }

  /// Waits until the new decoder alone is audible, for at most about 1 s.
  private func awaitArrival(_ worker: Worker) {
    for _ in 0..<100 where renderer.isExchanging && !worker.isStopped {
      worker.sleep(milliseconds: 10)
    }
  }
}
