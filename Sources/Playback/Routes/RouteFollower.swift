// SPDX-License-Identifier: Apache-2.0

internal import PulseAudio
internal import Rendering
internal import SoundSources
private import Synchronization

/// Keeps what a player lets be heard in step with route, programme and the listener's mode.
///
/// ## Threading
/// For any thread but the audio thread.
final class RouteFollower: Sendable {
  private struct State {
    var facts: RouteFacts?
    var programme: Programme
    var mode: StageMode
    var decision: RouteDecision
  }

  private let policy: RoutePolicy
  private let apply: @Sendable (RouteDecision, StageMode) -> Void
  private let tell: @Sendable (PlayerEvent) -> Void
  private let state: Mutex<State>

  /// - Parameters:
  ///   - facts: of the sink that is to be played to; nil where that is not known.
  ///   - apply: makes a decision heard; not called for the first one.
  ///   - tell: hears of every other decision.
  init(
    policy: RoutePolicy, programme: Programme, facts: RouteFacts?, mode: StageMode,
    tell: @escaping @Sendable (PlayerEvent) -> Void,
    apply: @escaping @Sendable (RouteDecision, StageMode) -> Void
  ) {
    (self.policy, self.tell, self.apply) = (policy, tell, apply)
    state = Mutex(
      State(
        facts: facts, programme: programme, mode: mode,
        decision: policy.decision(for: programme, on: facts, mode: mode)))
  }

  var decision: RouteDecision { state.withLock { $0.decision } }
  var programme: Programme { state.withLock { $0.programme } }

  var mode: StageMode {
    get { state.withLock { $0.mode } }
    set { change { $0.mode = newValue } }
  }

  func follow(_ sink: Sink) {
    let facts = RouteFacts(sink)
    change(isNews: true) { $0.facts = facts }
  }

  func follow(_ layout: ChannelLayout) { change { $0.programme.layout = layout } }

  /// - Parameter isNews: the decision is told though it has stayed the same.
  private func change(isNews: Bool = false, _ change: (inout State) -> Void) {
    state.withLock { state in
      let old = state.decision
      change(&state)
      state.decision = policy.decision(
        for: state.programme, on: state.facts, mode: state.mode)
      // With the lock held, so that the last decision is the last one applied.
      apply(state.decision, state.mode)
      if state.decision != old || isNews { tell(.routeChanged(state.decision)) }
    }
  }
}
