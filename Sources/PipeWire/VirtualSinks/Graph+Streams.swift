// SPDX-License-Identifier: Apache-2.0

import Glibc
internal import SoundServer

extension Graph {
  var contents: ServerContents {
    var contents = ServerContents()
    contents.sinks = sinks
    contents.streams = streamNodes.sorted { $0.key < $1.key }.compactMap { id, node in
      let process = node.clientID.flatMap { processes[$0] }
      guard process != Int(getpid()) else { return nil }
      let sink = sinkID(linkedFrom: id).flatMap { self.sink(id: $0)?.name }
      return node.stream(on: sink, clientProcess: process)
    }
    return contents
  }

  /// Returns the node ID of the stream with this serial number; nil if there is no such stream.
  func nodeID(ofStream serial: UInt64) -> UInt32? {
    streamNodes.first { $0.value.serial == serial }?.key
  }

  /// Returns the metadata keys whose values refer to a sink with a name that begins with `prefix`,
  /// by the stream's node ID. Every stream with a target has an entry, which may be empty.
  func targets(ofSinksWithPrefix prefix: String) -> [UInt32: [String]] {
    guard let defaults else { return [:] }
    var ids: Set<String> = []
    var serials: Set<String> = []
    for (id, node) in nodes where node.properties["node.name"]?.hasPrefix(prefix) == true {
      ids.insert("\(id)")
      if let serial = node.properties["object.serial"] { serials.insert(serial) }
    }
    return defaults.targets.mapValues { targets in
      targets.filter { key, value in
        if value.hasPrefix(prefix) { return true }
        return key == DefaultMetadata.targetNode ? ids.contains(value) : serials.contains(value)
      }.map(\.key)
    }
  }
}
