// SPDX-License-Identifier: Apache-2.0

internal import Rendering
internal import SoundServer
internal import SoundSources
private import Synchronization

/// Informs a program about the server's sinks: whether they can play spatial sound, and whether the
/// user allows spatial sound on them.
///
/// ```swift
/// let monitor = try RouteMonitor { event in
///   if case .spatialOffered(let route) = event { print("spatial sound on", route.facts.name) }
/// }
/// monitor.declareMultichannelContent(true)
/// ```
///
/// ## Threading
/// Any thread may use the monitor. `onEvent` is called on the monitor's own thread, or on a thread
/// that sets `policy` or declares content. `onEvent` must not call `stop`.
public final class RouteMonitor: Sendable {
  /// A change that the monitor reports.
  public enum Event: Sendable, Equatable {
    /// The routes have changed. The array is empty if there is no sound server or no sink.
    case routesChanged([SpatialRoute])
    /// The program has multichannel content, and spatial sound is possible and allowed on the route
    /// in use.
    case spatialOffered(SpatialRoute)
    /// The last offer no longer applies.
    case spatialWithdrawn
  }

  private struct State {
    var routes: [SpatialRoute] = []
    var policy: RoutePolicy
    var hasMultichannel = false
    var offered: SpatialRoute?
    var sinks: [Sink] = []
    var untold: [Event] = []
    var isTelling = false
  }

  /// The state that the sink monitor's thread and the callers share.
  private final class Board: Sendable {
    let state: Mutex<State>
    private let sinkName: String?
    private let onEvent: @Sendable (Event) -> Void

    init(_ policy: RoutePolicy, _ sinkName: String?, _ onEvent: @escaping @Sendable (Event) -> Void)
    {
      state = Mutex(State(policy: policy))
      (self.sinkName, self.onEvent) = (sinkName, onEvent)
    }

    func update(_ change: (inout State) -> Void) {
      state.withLock { state in
        let old = state.routes
        change(&state)
        let policy = state.policy
        state.routes = state.sinks.map { SpatialRoute($0, policy: policy) }
        if state.routes != old { state.untold.append(.routesChanged(state.routes)) }
        offer(&state)
      }
      tell()
    }

    private func offer(_ state: inout State) {
      let route = state.routes.first {
        if let sinkName { $0.facts.sink == sinkName } else { $0.isDefault }
      }
      let offer = state.hasMultichannel ? route.flatMap { $0.isSpatial ? $0 : nil } : nil
      guard offer != state.offered else { return }
      state.offered = offer
      state.untold.append(offer.map { .spatialOffered($0) } ?? .spatialWithdrawn)
    }

    /// Reports the events one by one without holding the lock. One thread at a time reports.
    private func tell() {
      let isFree = state.withLock { state in
        defer { state.isTelling = true }
        return !state.isTelling
      }
      guard isFree else { return }
      while let event = next() { onEvent(event) }
    }

    private func next() -> Event? {
      state.withLock { state in
        guard !state.untold.isEmpty else {
          state.isTelling = false
          return nil
        }
        return state.untold.removeFirst()
      }
    }
  }

  private let board: Board
  private let sinks: any SinkMonitor

  /// Starts to observe the sound server.
  ///
  /// - Parameters:
  ///   - policy: what the user allows, for example `RoutePolicy.ofUser()`.
  ///   - sink: the server's name for the sink that the program plays to; nil for the default sink.
  ///   - output: see `PlayerOptions.output`.
  ///   - serverAddress: see `PlayerOptions.serverAddress`.
  ///   - onEvent: receives the initial routes, if there are any, and every change.
  /// - Throws: `PlaybackError.output` if the system lacks resources, or if `output` is PipeWire and
  ///   libpipewire is missing or too old.
  public init(
    policy: RoutePolicy = RoutePolicy(), sink: String? = nil,
    output: OutputChoice = .automatic, serverAddress: String? = nil,
    onEvent: @escaping @Sendable (Event) -> Void
  ) throws(PlaybackError) {
    let board = Board(policy, sink, onEvent)
    self.board = board
    do throws(SoundServerError) {
      let client = SoundServerClient(output, serverAddress: serverAddress)
      sinks = try client.monitor { sinks in
        board.update { $0.sinks = sinks }
      }
    } catch { throw .output(error.description) }
  }

  deinit { stop() }

  /// The known routes, in the server's order.
  public var routes: [SpatialRoute] { board.state.withLock { $0.routes } }

  /// What the user allows.
  public var policy: RoutePolicy {
    get { board.state.withLock { $0.policy } }
    set { board.update { $0.policy = newValue } }
  }

  /// Returns the decision for a programme on the named sink; nil if no such sink is known.
  public func decision(for programme: Programme, on sink: String) -> RouteDecision? {
    board.state.withLock { state in
      state.routes.first { $0.facts.sink == sink }
        .map { state.policy.decision(for: programme, on: $0.facts) }
    }
  }

  /// Declares whether the program has content with more channels than stereo. If true and the
  /// route in use is spatial, `.spatialOffered` follows, unless this route was already offered. If
  /// false, an earlier offer is withdrawn.
  public func declareMultichannelContent(_ isThere: Bool) {
    board.update { $0.hasMultichannel = isThere }
  }

  /// Stops observing the sound server. The monitor cannot be started again.
  public func stop() { sinks.stop() }
}
