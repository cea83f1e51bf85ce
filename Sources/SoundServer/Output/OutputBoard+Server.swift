// SPDX-License-Identifier: Apache-2.0

/// Notes what the server reports about itself and its sinks.
extension OutputBoard {
  package func note(server: String, version: String) {
    draft.serverName = server
    draft.serverVersion = version
  }

  /// Notes the name of the default sink. If it has changed, posts `defaultSinkChanged` unless
  /// `isFirst` is true.
  package func note(defaultSink name: String, isFirst: Bool) {
    guard name != draft.defaultSinkName else { return }
    if !isFirst { post(.defaultSinkChanged(sink: name)) }
    draft.defaultSinkName = name
  }

  /// Notes the properties of the stream's sink. Returns true if no sink was noted before, or if a
  /// property that `leadsWhere` compares has changed.
  package func note(_ sink: Sink) -> Bool {
    defer { draft.sink = sink }
    draft.sinkName = sink.name
    draft.sinkDescription = sink.description
    draft.sinkSampleRate = sink.sampleRate
    return !sink.leadsWhere(draft.sink)
  }
}
