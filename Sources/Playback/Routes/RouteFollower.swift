// SPDX-License-Identifier: Apache-2.0

internal import Rendering
internal import SoundServer
internal import SoundSources
private import Synchronization

/// Updates a player's decision when the route, the programme or the mode changes.
///
/// ## Threading
/// Any thread except the audio thread may use an instance.
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
  ///   - facts: the facts about the sink; nil if the sink is unknown.
  ///   - tell: receives `.routeChanged` for a new decision, and for each established or changed
  ///     route.
  ///   - apply: carries out the decision after each change of the state.
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

  /// Changes the state, and updates and applies the decision.
  ///
  /// - Parameter isNews: whether to report even an unchanged decision.
  private func change(isNews: Bool = false, _ change: (inout State) -> Void) {
    state.withLock { state in
      let old = state.decision
      change(&state)
      state.decision = policy.decision(
        for: state.programme, on: state.facts, mode: state.mode)
      // The lock is held, so that the latest decision is applied last.
      apply(state.decision, state.mode)
      if state.decision != old || isNews { tell(.routeChanged(state.decision)) }
    }
  }
}
