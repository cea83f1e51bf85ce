// SPDX-License-Identifier: Apache-2.0

private import PipeWire
private import PulseAudio
package import Rendering
private import SoundServer
private import System

extension SystemWideParts {
  /// Finds the server and makes the renderers.
  ///
  /// - Parameters:
  ///   - layouts: the layouts of the virtual sinks.
  ///   - options: how to render, which tracker to follow, and which server to use. Settings for
  ///     sources, levelling and rewriting are ignored.
  ///   - isLimited: whether the true peak of each virtual sink is limited.
  ///   - keeper: the `command` for `PulseSinkKeeper`; nil for no keeper. PipeWire needs none.
  ///   - describe: see `SinkStage`.
  ///   - atEnd: see `SinkStage`.
  /// - Throws: the reason why the HRTF set cannot be read, or why a decoder cannot be designed.
  package init(
    layouts: [SinkLayout], options: PlayerOptions, isLimited: Bool, keeper: [String]?,
    describe: @escaping @Sendable (PlayerEvent) -> String?,
    atEnd: @escaping @Sendable (_ front: (tracker: String, yaw: Double)?) -> Void
  ) throws(PlaybackError) {
    let client = SoundServerClient(options.output, serverAddress: options.serverAddress)
    let sinks = (try? client.sinks())?.filter { !SinkLayout.isOurs($0.name) } ?? []
    let named = options.sinkName.flatMap { name in sinks.first { $0.name == name } }
    let stage = try SinkStage(
      layouts: layouts, options: options, isLimited: isLimited,
      sink: named ?? sinks.first(where: \.isDefault) ?? sinks.first, describe: describe,
      atEnd: atEnd)
    switch client {
    case .pipeWire(let address):
      self.init(pipeWire: address, stage)
    case .pulseAudio(let address):
      self.init(pulseAudio: address, stage, keeper)
    }
  }

  private init(pipeWire address: String?, _ stage: SinkStage) {
    self.init(
      serverKind: "pipewire", stage: stage,
      makeSteward: { onChange throws(SoundServerError) in
        try PipeWireSteward(serverAddress: address, onChange: onChange)
      },
      makeSink: { layout, sink throws(SoundServerError) in
        try PipeWireVirtualSink(
          stage.configuration(of: layout, for: sink), render: stage.callback(of: layout))
      })
  }

  private init(pulseAudio address: String?, _ stage: SinkStage, _ command: [String]?) {
    // Without a keeper, only a later start or clean-up undoes what a killed process has left.
    let keeper = command.flatMap { try? PulseSinkKeeper(command: $0, serverAddress: address) }
    let output = SinkOutput()
    self.init(
      serverKind: "pulseaudio", stage: stage,
      removeLeftovers: { try? PulseOrphans.remove(serverAddress: address) },
      keepDefault: { name in if let name { keeper?.setFallback(sinkName: name) } },
      makeSteward: { onChange throws(SoundServerError) in
        try PulseSteward(serverAddress: address, onChange: onChange)
      },
      makeSink: { layout, sink throws(SoundServerError) in
        try PulseVirtualSink(
          stage.configuration(of: layout, for: sink), output: output, keeper: keeper,
          render: stage.callback(of: layout))
      })
  }
}

extension SystemWideCleanUp {
  /// Finds the server as `SystemWideParts` does.
  package init(output: OutputChoice, serverAddress: String? = nil) {
    switch SoundServerClient(output, serverAddress: serverAddress) {
    case .pipeWire(let address):
      self.init { onChange throws(SoundServerError) in
        try PipeWireSteward(serverAddress: address, onChange: onChange)
      }
    case .pulseAudio(let address):
      self.init(
        removeLeftovers: { try? PulseOrphans.remove(serverAddress: address) },
        makeSteward: { onChange throws(SoundServerError) in
          try PulseSteward(serverAddress: address, onChange: onChange)
        })
    }
  }
}
