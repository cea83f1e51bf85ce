// SPDX-License-Identifier: Apache-2.0

import CPulse
import Glibc
import SoundServer

/// Collects the answers to one request. Use it with the loop's lock held.
final class Answer<Element>: CallbackTarget {
  var elements: [Element] = []
  var isComplete = false
  private let onComplete: () -> Void

  init(_ loop: ThreadedLoop) { onComplete = loop.signal }

  func add(_ element: Element?, isLast: Bool) {
    if let element, !isLast { elements.append(element) }
    guard isLast else { return }
    isComplete = true
    onComplete()
  }

  func complete(with element: Element) {
    elements = [element]
    isComplete = true
    onComplete()
  }
}

/// A database entry of module-stream-restore.
struct StoredStream: Equatable {
  var name: String
  var device: String?
}

/// Requests to the server. Call them with the loop's lock held.
extension ClientConnection {
  func modules() throws(SoundServerError) -> [ServerModule] {
    try ask { (context, answer: UnsafeMutableRawPointer) in
      pa_context_get_module_info_list(
        context,
        { _, info, end, this in
          Answer<ServerModule>.with(this) {
            $0.add(info.map { ServerModule($0.pointee) }, isLast: end != 0)
          }
        }, answer)
    }
  }

  /// Loads a module and returns its index; nil if the request cannot be sent or the server cannot
  /// load the module.
  func loadModule(_ name: String, _ argument: String) throws(SoundServerError) -> UInt32? {
    let index: [UInt32] = try ask { (context, answer: UnsafeMutableRawPointer) in
      pa_context_load_module(
        context, name, argument, { Answer<UInt32>.with($2, complete: $1) }, answer)
    }
    return index.first.flatMap { $0 == .max ? nil : $0 }
  }

  func unloadModule(_ index: UInt32) throws(SoundServerError) {
    let _: [Int32] = try ask { (context, answer: UnsafeMutableRawPointer) in
      pa_context_unload_module(context, index, { Answer<Int32>.with($2, complete: $1) }, answer)
    }
  }

  func setDefault(sinkName: String) throws(SoundServerError) {
    let _: [Int32] = try ask { (context, answer: UnsafeMutableRawPointer) in
      pa_context_set_default_sink(
        context, sinkName, { Answer<Int32>.with($2, complete: $1) }, answer)
    }
  }

  /// Returns the indices of the streams that programs, including this one, play to a sink; empty if
  /// no sink has this name.
  func streams(on sinkName: String) throws(SoundServerError) -> [UInt32] {
    let sinks: [UInt32] = try ask { (context, answer: UnsafeMutableRawPointer) in
      pa_context_get_sink_info_by_name(
        context, sinkName,
        { _, info, end, this in
          Answer<UInt32>.with(this) { $0.add(info?.pointee.index, isLast: end != 0) }
        }, answer)
    }
    guard let sink = sinks.first else { return [] }
    // Streams without a client belong to the server's modules, not to programs.
    let streams: [(stream: UInt32, sink: UInt32, client: UInt32)] = try ask {
      (context, answer: UnsafeMutableRawPointer) in
      pa_context_get_sink_input_info_list(
        context,
        { _, info, end, this in
          Answer<(stream: UInt32, sink: UInt32, client: UInt32)>.with(this) {
            $0.add(
              info.map { ($0.pointee.index, $0.pointee.sink, $0.pointee.client) },
              isLast: end != 0)
          }
        }, answer)
    }
    return streams.filter { $0.sink == sink && $0.client != .max }.map(\.stream)
  }

  func move(stream: UInt32, to sinkName: String) throws(SoundServerError) {
    let _: [Int32] = try ask { (context, answer: UnsafeMutableRawPointer) in
      pa_context_move_sink_input_by_name(
        context, stream, sinkName, { Answer<Int32>.with($2, complete: $1) }, answer)
    }
  }

  // MARK: module-stream-restore

  /// Returns the stored streams; empty if the module is not loaded.
  func storedStreams() throws(SoundServerError) -> [StoredStream] {
    try ask { (context, answer: UnsafeMutableRawPointer) in
      pa_ext_stream_restore_read(
        context,
        { _, info, end, this in
          Answer<StoredStream>.with(this) {
            $0.add(info.map { StoredStream($0.pointee) }, isLast: end != 0)
          }
        }, answer)
    }
  }

  /// Removes the device from each stored stream whose device's name begins with `prefix`. Keeps the
  /// stored volumes.
  func forgetDevices(withPrefix prefix: String) throws(SoundServerError) {
    for stored in try storedStreams() where stored.device?.hasPrefix(prefix) == true {
      try rewriteStored(named: stored.name)
    }
  }

  /// Removes the device from one stored stream. Keeps its volume and channel map.
  private func rewriteStored(named name: String) throws(SoundServerError) {
    let entries: [pa_ext_stream_restore_info] = try ask {
      (context, answer: UnsafeMutableRawPointer) in
      pa_ext_stream_restore_read(
        context,
        { _, info, end, this in
          Answer<pa_ext_stream_restore_info>.with(this) {
            $0.add(info?.pointee.copy, isLast: end != 0)
          }
        }, answer)
    }
    defer {
      for entry in entries { free(UnsafeMutableRawPointer(mutating: entry.name)) }
    }
    guard var entry = entries.first(where: { String(cString: $0.name) == name }) else { return }
    entry.device = nil
    let _: [Int32] = try ask { (context, answer: UnsafeMutableRawPointer) in
      pa_ext_stream_restore_write(
        context, PA_UPDATE_REPLACE, &entry, 1, 1, { Answer<Int32>.with($2, complete: $1) }, answer)
    }
  }

  // MARK: -

  /// Sends a request, waits for the answer and returns its elements; empty if the request cannot be
  /// sent. Closes the connection if the wait fails.
  ///
  /// - Throws: `noServer`, `serverSilent` or `systemFailure`.
  func ask<Element>(
    _ request: (OpaquePointer, UnsafeMutableRawPointer) -> OpaquePointer?
  ) throws(SoundServerError) -> [Element] {
    guard let context = connection.context else {
      throw .systemFailure(
        reason: "the connection was closed; try again")
    }
    let answer = Answer<Element>(loop)
    let operation = request(context, answer.userdata)
    guard operation != nil else { return [] }
    release(operation)
    // A pending operation points to the answer and must not outlive it.
    defer { if !answer.isComplete { connection.close() } }
    try wait { _ in answer.isComplete }
    return answer.elements
  }
}

extension Answer {
  static func with(_ userdata: UnsafeMutableRawPointer?, complete element: Element) {
    with(userdata) { $0.complete(with: element) }
  }
}

extension ServerModule {
  fileprivate init(_ info: pa_module_info) {
    self.init(
      index: info.index, name: String(cString: info.name),
      argument: info.argument.map { String(cString: $0) } ?? "")
  }
}

extension StoredStream {
  fileprivate init(_ info: pa_ext_stream_restore_info) {
    self.init(
      name: String(cString: info.name), device: info.device.map { String(cString: $0) })
  }
}

extension pa_ext_stream_restore_info {
  /// A copy without the device. The caller must free the copy's name.
  fileprivate var copy: pa_ext_stream_restore_info {
    var copy = self
    copy.name = UnsafePointer(strdup(name))
    copy.device = nil
    return copy
  }
}
