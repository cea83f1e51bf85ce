// SPDX-License-Identifier: Apache-2.0

package import SoundServer

/// Decides which program streams are moved to which sink.
///
/// A stream on a virtual sink is moved to the virtual sink that fits its layout, or to the real
/// sink if the treatment of its role is plain. A stream that appears on a real sink stays there. If
/// the user has moved a stream from the chosen sink to another sink, the stream stays on the other
/// sink while that sink exists. If the channels or the role of a stream change, its sink is chosen
/// again, provided that the stream is on a virtual sink or was moved because of its role.
package struct StreamRouting: Sendable, Equatable {
  /// A request to move a stream.
  package struct Move: Sendable, Equatable {
    package let stream: UInt64
    package let sink: String

    package init(stream: UInt64, sink: String) { (self.stream, self.sink) = (stream, sink) }
  }

  private let layouts: [SinkLayout]
  private let roles: RoleTreatments
  private let ownsDefault: Bool
  private var placements: [UInt64: Placement] = [:]
  private var lastDefault: String?
  /// The latest change of the default sink to a real sink; nil if there was none, or without
  /// `ownsDefault`.
  private var foreign: DefaultChange?

  /// A stream that moves to a new default sink at most this long after the default has changed
  /// counts as following the default [ns].
  private static let followTime: Int64 = 2_000_000_000
  /// Like `followTime`, but for a move that is reported before the change of the default [ns].
  private static let precedingTime: Int64 = 500_000_000
  /// The time after which a request that has had no effect is repeated [ns].
  private static let retryTime: Int64 = 1_000_000_000
  /// The number of unsuccessful requests after which a stream stays where it is.
  package static let largestNumberOfRequests = 3

  /// - Parameter ownsDefault: whether a virtual sink is to be the default sink. If so, a stream
  ///   that follows the default sink to a real sink does not count as moved by hand.
  package init(layouts: [SinkLayout], roles: RoleTreatments, ownsDefault: Bool) {
    (self.layouts, self.roles, self.ownsDefault) = (layouts, roles, ownsDefault)
  }

  /// Returns the requests for the current state of the server.
  ///
  /// - Parameters:
  ///   - realSink: the name of the sink for plain streams; nil if there is none.
  ///   - now: the current time, which never decreases [ns].
  package mutating func moves(
    for contents: ServerContents, realSink: String?, now: Int64
  ) -> [Move] {
    let present = Set(contents.sinks.map(\.name))
    let real = realSink.flatMap { present.contains($0) ? $0 : nil }
    followDefault(contents.defaultSink, now)
    let streams = Set(contents.streams.map(\.id))
    placements = placements.filter { streams.contains($0.key) }
    return contents.streams.compactMap { stream in
      guard let here = stream.sink, present.contains(here), stream.channelCount > 0 else {
        return nil
      }
      var placement = placements[stream.id] ?? Placement(stream, at: here)
      follow(stream, &placement, at: here, present, now)
      let target = target(of: stream, placement, at: here, present, real)
      let move = placement.request(target, at: here, now)
      placements[stream.id] = placement
      return move.map { Move(stream: stream.id, sink: $0) }
    }
  }

  /// The IDs of the streams that stay where they are because the user moved them or requests had no
  /// effect.
  package var streamsMovedByHand: Set<UInt64> {
    Set(placements.filter { $0.value.kind == .byHand }.keys)
  }

  private mutating func followDefault(_ name: String?, _ now: Int64) {
    guard let name, name != lastDefault else { return }
    // The first report of a default sink is not a change.
    let isChange = lastDefault != nil
    lastDefault = name
    guard isChange, ownsDefault, !SinkLayout.isOurs(name) else { return }
    foreign = DefaultChange(name: name, time: now)
    for (stream, placement) in placements
    where placement.kind == .byHand && placement.expected == name
      && now - placement.requestTime <= Self.precedingTime
    {
      placements[stream]?.begin(.placed, at: name)
    }
  }

  /// Updates a placement for the stream's current sink, channels and role.
  private func follow(
    _ stream: ProgramStream, _ placement: inout Placement, at here: String, _ present: Set<String>,
    _ now: Int64
  ) {
    let isOnOurs = isOffered(here)
    let format = Format(stream)
    if format != placement.format {
      placement.format = format
      if isOnOurs || placement.kind == .placed { placement.begin(.placed, at: here) }
    }
    let isExpected = here == placement.expected || here == placement.origin
    switch placement.kind {
    case .untouched:
      if isOnOurs { placement.begin(.placed, at: here) } else { placement.expected = here }
    case .placed:
      guard !isExpected else { break }
      // If a stream follows the default sink or its sink is gone, the server, not the user, has
      // moved it.
      let isRescued = !present.contains(placement.expected)
      if isRescued || isFollower(at: here, now) {
        placement.begin(.placed, at: here)
      } else {
        placement.begin(.byHand, at: here)
        placement.requestTime = now
      }
    case .byHand:
      guard !isExpected else { break }
      let isRescued = !present.contains(placement.expected)
      placement.begin(isRescued && isOnOurs ? .placed : .byHand, at: here)
    }
  }

  private func target(
    of stream: ProgramStream, _ placement: Placement, at here: String, _ present: Set<String>,
    _ real: String?
  ) -> String? {
    guard placement.kind == .placed else { return nil }
    if roles[stream.role] == .plain { return real }
    let offered = layouts.filter { present.contains($0.sinkName) }
    return SinkLayout.for(stream, among: offered)?.sinkName
  }

  private func isOffered(_ name: String) -> Bool {
    layouts.contains { $0.sinkName == name }
  }

  private func isFollower(at here: String, _ now: Int64) -> Bool {
    guard let foreign else { return false }
    return here == foreign.name && now - foreign.time <= Self.followTime
  }

  private struct DefaultChange: Sendable, Equatable {
    let name: String
    let time: Int64
  }

  /// The properties of a stream that determine its sink.
  private struct Format: Sendable, Equatable {
    let channelCount: Int
    let role: String?
    let covering: SinkLayout?

    init(_ stream: ProgramStream) {
      channelCount = stream.channelCount
      role = stream.role
      covering = SinkLayout.for(stream, among: SinkLayout.allCases)
    }
  }

  private struct Placement: Sendable, Equatable {
    enum Kind {
      /// The stream has played only to real sinks.
      case untouched
      case placed
      case byHand
    }

    var kind = Kind.untouched
    var format: Format
    /// The requested sink; without a pending request, the current sink.
    var expected: String
    /// The stream's sink at the last request; nil without a pending request.
    var origin: String?
    var requests = 0
    /// The time of the last request, or of the user's move [ns].
    var requestTime: Int64 = 0

    init(_ stream: ProgramStream, at sink: String) {
      format = Format(stream)
      expected = sink
    }

    mutating func begin(_ kind: Kind, at here: String) {
      (self.kind, expected, origin, requests) = (kind, here, nil, 0)
    }

    /// Returns the sink to request now, and counts the request; nil for no request.
    mutating func request(_ target: String?, at here: String, _ now: Int64) -> String? {
      guard let target, kind == .placed else { return nil }
      if here == target {
        begin(.placed, at: here)
        return nil
      }
      if target != expected || origin == nil {
        requests = 0
      } else if now - requestTime < StreamRouting.retryTime {
        return nil
      }
      guard requests < StreamRouting.largestNumberOfRequests else {
        begin(.byHand, at: here)
        return nil
      }
      (expected, origin, requestTime) = (target, here, now)
      requests += 1
      return target
    }
  }
}
