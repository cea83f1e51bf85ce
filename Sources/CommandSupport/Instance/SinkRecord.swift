// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import FoundationEssentials
import Geometry
import Glibc
package import Playback

/// The state of a running instance of `sink`: the output of `--status --json`
/// [docs/system-wide-output.md]. Unknown values are absent.
package struct SinkRecord: Sendable, Equatable, Codable {
  package struct Output: Sendable, Equatable, Codable {
    package var sink: String
    package var description: String
    /// The kind of device: "headphones", "loudspeakers" or "unknown".
    package var device: String
  }

  package struct Tracker: Sendable, Equatable, Codable {
    package var name: String
    package var isFresh: Bool
    package var rate: Double
  }

  /// Angles in degrees.
  package struct Pose: Sendable, Equatable, Codable {
    package var yaw: Double
    package var pitch: Double
    package var roll: Double
  }

  package struct Sink: Sendable, Equatable, Codable {
    package var sink: String
    package var layout: String
    package var isInUse: Bool
    package var rendererDelayMilliseconds: Double?
    package var limiterMilliseconds: Double?
    package var filtersMilliseconds: Double?
    package var upmixMilliseconds: Double?
    /// Latency from the renderer to the ear.
    package var latencyMilliseconds: Double?
    package var underruns: Int
  }

  package struct Stream: Sendable, Equatable, Codable {
    package var application: String
    package var pid: Int?
    package var layout: String
    package var role: String?
    package var sink: String?
    package var isSpatial: Bool
    package var isPaused: Bool
  }

  package var pid: Int32
  package var server: String
  package var isDefault: Bool
  package var mode: String
  package var output: Output?
  package var tracker: Tracker?
  package var pose: Pose?
  package var sinks: [Sink]
  package var streams: [Stream]

  package init(_ status: SystemWideStatus, _ parts: SystemWideParts) {
    let stage = parts.stage
    let head = stage.head
    pid = getpid()
    server = parts.serverKind
    isDefault = status.isDefault
    mode = stage.mode.rawValue
    output = status.output.map { sink in
      Output(
        sink: sink.name, description: sink.description,
        device: RouteFacts(sink).device.kind.rawValue)
    }
    tracker = head.tracker.map { Tracker(name: $0, isFresh: head.isFresh, rate: head.rate) }
    pose = head.pose.map {
      let angles = YawPitchRoll($0)
      return Pose(yaw: angles.yaw, pitch: angles.pitch, roll: angles.roll)
    }
    sinks = status.sinks.map { entry in
      let delay = stage.delay(of: entry.layout)
      return Sink(
        sink: entry.layout.sinkName, layout: entry.layout.rawValue, isInUse: entry.isInUse,
        rendererDelayMilliseconds: delay?.total, limiterMilliseconds: delay?.limiter,
        filtersMilliseconds: delay?.filters, upmixMilliseconds: delay?.upmix,
        latencyMilliseconds: entry.output.measuredLatencyMilliseconds,
        underruns: entry.output.underruns)
    }
    streams = status.streams.map { stream in
      Stream(
        application: stream.application, pid: stream.processID,
        layout: (stream.layout ?? .unknown(channels: stream.channelCount)).name,
        role: stream.role, sink: stream.sink,
        isSpatial: stream.sink.map(SinkLayout.isOurs) ?? false, isPaused: stream.isCorked)
    }
  }
}
