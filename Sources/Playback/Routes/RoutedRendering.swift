// SPDX-License-Identifier: Apache-2.0

internal import Rendering
internal import SoundSources
private import Synchronization

/// Makes heard what the route decides and what the listener wishes of the decoder.
///
/// Spatial and plain sound change over at once. Where other filters are wanted, for loudspeakers in
/// place of headphones or the other way round, plain stereo is heard until they are there.
///
/// ## Threading
/// For any thread but the audio thread.
final class RoutedRendering: Sendable {
  private struct State {
    /// As wished last; `playback` is what the filters are wanted for.
    var settings: RenderSettings
    var decision: RouteDecision
    var mode: StageMode
    /// What the filters that are heard were made for.
    var rendered: PlaybackDevice
  }

  private let renderer: Renderer
  private let head: HeadToStageSource
  private let redesigner: Redesigner
  /// What stands for headphones where the route leads to loudspeakers.
  private let loudspeakers: PlaybackDevice
  /// The queue is to be looked at again.
  private let refresh: @Sendable () -> Void
  private let state: Mutex<State>

  /// - Parameters:
  ///   - settings: by which `renderer` was made.
  ///   - decision: the first one, by which it was made.
  init(
    settings: RenderSettings, decision: RouteDecision, mode: StageMode,
    loudspeakers: PlaybackDevice, renderer: Renderer, head: HeadToStageSource,
    redesigner: Redesigner,
    refresh: @escaping @Sendable () -> Void
  ) {
    (self.renderer, self.head, self.redesigner) = (renderer, head, redesigner)
    (self.loudspeakers, self.refresh) = (loudspeakers, refresh)
    state = Mutex(
      State(settings: settings, decision: decision, mode: mode, rendered: settings.playback))
    head.isFollowed = decision.isTracked(in: mode)
  }

  /// As wished last.
  var settings: RenderSettings { state.withLock { $0.settings } }

  func apply(_ decision: RouteDecision, _ mode: StageMode) {
    state.withLock { state in
      (state.decision, state.mode) = (decision, mode)
      let device = decision.playback(state.settings, loudspeakers: loudspeakers)
      if let device, device != state.settings.playback {
        state.settings.playback = device
        redesigner.wish(state.settings, isTold: false) { [weak self] in self?.arrived($0) }
      }
      show(state)
    }
  }

  /// Takes over everything of `wish` that can change while playing, but for what the route decides.
  func decode(by wish: RenderSettings) {
    state.withLock { state in
      state.settings.takeDecoding(from: wish)
      redesigner.wish(state.settings, isTold: true) { [weak self] in self?.arrived($0) }
    }
  }

  private func arrived(_ settings: RenderSettings) {
    state.withLock { state in
      state.rendered = settings.playback
      show(state)
    }
  }

  private func show(_ state: State) {
    let isReady = state.rendered == state.settings.playback
    renderer.mode = isReady ? state.decision.renderedMode : .plain
    head.isFollowed = state.decision.isTracked(in: state.mode)
    refresh()
  }
}

extension RouteDecision {
  /// What the filters are to be made for; nil: whatever they are made for is not heard.
  func playback(_ settings: RenderSettings, loudspeakers: PlaybackDevice) -> PlaybackDevice? {
    switch treatment {
    case .binaural: .headphones
    case .crosstalkCancelled: loudspeakers
    // Plain stereo goes through the headphones' equaliser, too.
    case .plainStereo:
      settings.headphones == nil ? nil : device == .loudspeakers ? loudspeakers : .headphones
    }
  }
}

extension RenderSettings {
  /// Takes over what of the decoder can change while playing.
  fileprivate mutating func takeDecoding(from wish: RenderSettings) {
    hrtfPath = wish.hrtfPath
    equalisation = wish.equalisation
    method = wish.method
    isDirect = wish.isDirect
    isParametric = wish.isParametric
    busOrder = wish.busOrder
    headphones = wish.headphones
    headCircumference = wish.headCircumference
  }
}
