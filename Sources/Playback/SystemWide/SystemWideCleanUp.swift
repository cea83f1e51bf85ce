// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import Glibc
package import SoundServer
private import Synchronization

/// Undoes what a killed instance changed on the server.
package struct SystemWideCleanUp: Sendable {
  private let makeSteward:
    @Sendable (
      @escaping @Sendable (ServerContents) -> Void
    ) throws(SoundServerError) -> any StreamSteward
  private let removeLeftovers: @Sendable () -> Void

  /// Creates a clean-up. For the parameters, see `SystemWideParts`.
  package init(
    removeLeftovers: @escaping @Sendable () -> Void = {},
    makeSteward:
      @escaping @Sendable (
        @escaping @Sendable (ServerContents) -> Void
      ) throws(SoundServerError) -> any StreamSteward
  ) {
    (self.makeSteward, self.removeLeftovers) = (makeSteward, removeLeftovers)
  }

  /// Restores the default sink, moves the streams on virtual sinks to a real sink, and removes the
  /// virtual sinks and the server's stored references to them. This can take several seconds.
  ///
  /// - Parameter previousDefault: the default sink to restore; nil if unknown. If it is unknown or
  ///   does not exist, and the default is a virtual sink or none, a real sink becomes the default.
  /// - Throws: the reason why the server cannot be observed.
  package func run(previousDefault: String?) throws(SoundServerError) {
    let latest = Latest()
    let steward = try makeSteward { latest.put($0) }
    latest.put(steward.contents)
    defer { steward.stop() }
    waitUntil(milliseconds: 2000) { !latest.contents.sinks.isEmpty }
    let contents = latest.contents
    var follower = OutputFollower(previousDefault: previousDefault)
    follower.follow(contents)
    let isOurs = contents.defaultSink.map(SinkLayout.isOurs) ?? true
    let isPresent = contents.sinks.contains { $0.name == previousDefault }
    let target = isPresent ? previousDefault : follower.sink
    if let target, isOurs || isPresent, contents.defaultSink != target {
      steward.setDefault(sinkName: target)
    }
    if let target {
      for stream in contents.streams where stream.sink.map(SinkLayout.isOurs) ?? false {
        steward.move(stream: stream.id, to: target)
      }
      waitUntil(milliseconds: 600) {
        let now = latest.contents
        return now.defaultSink.map(SinkLayout.isOurs) != true
          && !now.streams.contains { $0.sink.map(SinkLayout.isOurs) ?? false }
      }
    }
    removeLeftovers()
    steward.forget(sinksWithPrefix: SinkLayout.namePrefix)
  }

  private func waitUntil(milliseconds: Int64, _ condition: () -> Bool) {
    let end = monotonic_nanoseconds() + milliseconds * 1_000_000
    while !condition(), monotonic_nanoseconds() < end { usleep(5000) }
  }

  private final class Latest: Sendable {
    private let state = Mutex(ServerContents())
    var contents: ServerContents { state.withLock { $0 } }
    func put(_ new: ServerContents) { state.withLock { $0 = new } }
  }
}
