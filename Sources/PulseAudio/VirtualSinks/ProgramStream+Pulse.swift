// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CPulse
import SoundServer

/// A stream as the server describes it, with the index of its sink.
struct StreamDescription {
  var stream: ProgramStream
  var sinkIndex: UInt32
}

extension StreamDescription {
  init(_ info: pa_sink_input_info) {
    func told(_ key: String) -> String? {
      pa_proplist_gets(info.proplist, key).map { String(cString: $0) }
    }
    let name = info.name.map { String(cString: $0) } ?? ""
    stream = ProgramStream(
      id: UInt64(info.index), sink: nil, layout: ChannelLayout(info.channel_map),
      channelCount: Int(info.sample_spec.channels), role: told(PA_PROP_MEDIA_ROLE)?.lowercased(),
      application: told(PA_PROP_APPLICATION_NAME) ?? name,
      processID: told(PA_PROP_APPLICATION_PROCESS_ID).flatMap { Int($0) })
    stream.isCorked = info.corked != 0
    sinkIndex = info.sink
  }
}

/// Collects a server's sinks and streams.
///
/// ## Threading
/// Use it only with the loop's lock held.
final class ContentsCollector: CallbackTarget {
  private let connection: Connection
  private let sinks: DeviceList<Sink>
  private var indices: [UInt32: String] = [:]
  private var descriptions: [StreamDescription] = []
  private var pendingLists = 0

  init(on connection: Connection) {
    self.connection = connection
    sinks = DeviceList(on: connection)
  }

  var isComplete: Bool { sinks.isComplete && pendingLists == 0 }

  /// Returns the contents without the streams of the process `processID`.
  func contents(without processID: Int) -> ServerContents {
    var contents = ServerContents()
    contents.sinks = sinks.devices
    contents.streams = descriptions.filter { $0.stream.processID != processID }.map {
      var stream = $0.stream
      stream.sink = indices[$0.sinkIndex]
      return stream
    }
    return contents
  }

  /// Requests the contents. Kicks the loop when they are complete.
  func request() {
    guard let context = connection.context else { return }
    (indices, descriptions, pendingLists) = ([:], [], 2)
    sinks.request()
    release(
      pa_context_get_sink_info_list(
        context,
        { _, info, end, this in
          ContentsCollector.with(this) {
            if end == 0, let info {
              $0.indices[info.pointee.index] = String(cString: info.pointee.name)
            }
            if end != 0 { $0.completeList() }
          }
        }, userdata))
    release(
      pa_context_get_sink_input_info_list(
        context,
        { _, info, end, this in
          ContentsCollector.with(this) {
            if end == 0, let info { $0.add(info.pointee) }
            if end != 0 { $0.completeList() }
          }
        }, userdata))
  }

  /// Adds a stream unless the server itself plays it.
  private func add(_ info: pa_sink_input_info) {
    if info.client != .max { descriptions.append(StreamDescription(info)) }
  }

  private func completeList() {
    pendingLists -= 1
    if isComplete { connection.loop.kick() }
  }
}
