// SPDX-License-Identifier: Apache-2.0

internal import Rendering
internal import SoundSources
private import Synchronization

/// Applies route decisions and requested decoders to a renderer.
///
/// If a new decision requires filters for another device, plain stereo plays until these filters
/// are ready.
///
/// ## Threading
/// Any thread except the audio thread may use an instance.
final class RoutedRendering: Sendable {
  private struct State {
    /// The latest requested settings.
    var settings: RenderSettings
    var decision: RouteDecision
    var mode: StageMode
    /// The device that the audible filters were made for.
    var rendered: PlaybackDevice
  }

  private let renderer: Renderer
  private let head: HeadToStageSource
  private let redesigner: Redesigner
  /// The device that filters are designed for if the route leads to loudspeakers.
  private let loudspeakers: PlaybackDevice
  /// Requests that the output rewrite its queue.
  private let refresh: @Sendable () -> Void
  private let state: Mutex<State>

  /// - Parameters:
  ///   - settings: the settings that `renderer` was made with.
  ///   - decision: the decision that `renderer` was made for.
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

  /// Requests a new decoder. Takes from `wish` only the settings that can change during playback.
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
  /// Returns the device that filters are needed for; nil if the filters are inaudible.
  func playback(_ settings: RenderSettings, loudspeakers: PlaybackDevice) -> PlaybackDevice? {
    switch treatment {
    case .binaural: .headphones
    case .crosstalkCancelled: loudspeakers
    // On headphones, plain stereo also passes through the equaliser of the headphone profile, if
    // there is one. The filters for loudspeakers do not contain this equaliser.
    case .plainStereo:
      settings.headphones == nil ? nil : device == .loudspeakers ? loudspeakers : .headphones
    }
  }
}

extension RenderSettings {
  /// Adopts the decoder settings that can change during playback.
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
