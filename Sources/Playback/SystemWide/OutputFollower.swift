// SPDX-License-Identifier: Apache-2.0

package import SoundServer

/// Chooses the real sink that the virtual sinks play to.
///
/// The named sink is chosen while it exists. Otherwise, the latest of these events decides: a real
/// sink was the default at the start, the user made a real sink the default, or headphones appeared
/// on a sink. If that sink or those headphones disappear, the previous event decides. If no event
/// is left, the choice is the default sink if it is real, or else the first real sink with
/// headphones, or else the first real sink.
package struct OutputFollower: Sendable, Equatable {
  private enum Reason: Sendable, Equatable {
    case isDefault
    case isHeadphones
  }

  private struct Choice: Sendable, Equatable {
    let name: String
    let reason: Reason
  }

  private let named: String?
  /// The choices without duplicates, oldest first.
  private var history: [Choice] = []
  /// Whether each real sink led to headphones at the last report; nil before the first report and
  /// after a report without sinks.
  private var known: [String: Bool]?
  private var lastDefault: String?
  /// Whether a real sink was the default in the first report that named a default sink, or in the
  /// first such report after any restart of the server.
  private var hasFollowed = false

  /// The name of the sink to play to; nil if there has been none yet.
  package private(set) var sink: String?
  /// The real sink to restore as the default when this program ends; nil if there is none.
  package private(set) var realDefault: String?

  private static let longestHistory = 16

  /// Creates a follower that has chosen no sink yet.
  ///
  /// - Parameters:
  ///   - named: the sink that the user has named; nil for none.
  ///   - previousDefault: the default sink that an earlier instance did not restore; nil for none.
  package init(named: String? = nil, previousDefault: String? = nil) {
    self.named = named
    if let previousDefault, !SinkLayout.isOurs(previousDefault) {
      realDefault = previousDefault
      history = [Choice(name: previousDefault, reason: .isDefault)]
    }
  }

  /// Returns `realDefault` if that sink exists, otherwise `sink`; nil if neither exists.
  package func sinkToRestore(in contents: ServerContents) -> String? {
    [realDefault, sink].compactMap(\.self).first { name in
      contents.sinks.contains { $0.name == name }
    }
  }

  /// Updates `sink` and `realDefault` for new contents. Contents without sinks change neither.
  package mutating func follow(_ contents: ServerContents) {
    guard !contents.sinks.isEmpty else {
      (known, lastDefault) = (nil, nil)
      return
    }
    let real = contents.sinks.filter { !SinkLayout.isOurs($0.name) }
    followDefault(contents)
    followHeadphones(real)
    let names = Set(real.map(\.name))
    let chosen = history.last { names.contains($0.name) }?.name
    let name =
      named.flatMap { names.contains($0) ? $0 : nil } ?? chosen
      ?? contents.defaultSink.flatMap { names.contains($0) ? $0 : nil } ?? Self.best(real)
    if let name { sink = name }
  }

  private mutating func followDefault(_ contents: ServerContents) {
    defer { lastDefault = contents.defaultSink ?? lastDefault }
    guard let now = contents.defaultSink, !SinkLayout.isOurs(now) else { return }
    guard let before = lastDefault else {
      // After a restart of the server, the user's earlier choice remains.
      if !hasFollowed || realDefault == nil { choose(now, .isDefault) }
      hasFollowed = true
      return
    }
    // If the former default sink is gone, ignore the change: the server and not the user chose the
    // new default sink.
    if now != before, contents.sinks.contains(where: { $0.name == before }) {
      choose(now, .isDefault)
    }
  }

  private mutating func followHeadphones(_ real: [Sink]) {
    let before = known
    let present = Dictionary(real.map { ($0.name, $0.leadsToHeadphones) }) { first, _ in first }
    known = present
    history.removeAll { $0.reason == .isHeadphones && present[$0.name] != true }
    guard let before else { return }
    for sink in real where sink.leadsToHeadphones && before[sink.name] != true {
      choose(sink.name, .isHeadphones)
    }
  }

  private mutating func choose(_ name: String, _ reason: Reason) {
    let choice = Choice(name: name, reason: reason)
    history.removeAll { $0 == choice }
    history.append(choice)
    if history.count > Self.longestHistory { history.removeFirst() }
    if reason == .isDefault { realDefault = name }
  }

  /// Returns the name of the first sink with headphones, or else of the first sink; nil if there is
  /// no sink.
  private static func best(_ real: [Sink]) -> String? {
    (real.first(where: \.leadsToHeadphones) ?? real.first)?.name
  }
}

extension Sink {
  /// Whether headphones are connected. Bluetooth devices of unknown kind count as headphones; a
  /// device on an unplugged port does not.
  package var leadsToHeadphones: Bool {
    if ports.first(where: \.isActive)?.isAvailable == false { return false }
    switch RouteFacts(self).device.kind {
    case .headphones: return true
    case .unknown: return bluetoothAddress != nil || bluetoothProfile != nil
    case .loudspeakers: return false
    }
  }
}
