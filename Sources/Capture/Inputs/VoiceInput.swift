// SPDX-License-Identifier: Apache-2.0

internal import PulseAudio
public import SoundServer
private import Synchronization

/// An input whose sound the sound server processes with echo cancellation and noise suppression.
///
/// When the echo canceller is loaded, its sink becomes the default sink, so that other programs
/// play through it.
///
/// ## Threading
/// Any thread may use an instance.
public final class VoiceInput: @unchecked Sendable {
  /// The input with the processed sound.
  public let input: Input
  /// The name of the sink to which the echo canceller plays: the default sink before the echo
  /// canceller was loaded, or the first sink if there was no default.
  public let realSink: String
  private let module: Mutex<VoiceModule?>

  /// Loads the server's echo canceller.
  ///
  /// - Parameters:
  ///   - input: an input with one or two channels.
  ///   - willLoad: receives the value of `realSink` before the echo canceller is loaded.
  ///     `removeOrphans` needs it if this process is killed.
  /// - Throws: the reason why the echo canceller cannot be used.
  public init(
    _ input: Input, serverAddress: String? = nil,
    willLoad: (_ defaultSink: String) -> Void = { _ in }
  ) throws(SoundServerError) {
    let module = try VoiceModule(
      source: input.name, channels: input.channelCount, serverAddress: serverAddress,
      willLoad: willLoad)
    realSink = module.realSink
    do throws(SoundServerError) {
      let all = try Inputs.list(serverAddress: serverAddress)
      guard let treated = all.first(where: { $0.name == VoiceModule.sourceName }) else {
        throw .streamRefused(reason: "the input of the echo canceller did not appear")
      }
      self.input = treated
    } catch {
      module.unload()
      throw error
    }
    let kept = module
    self.module = Mutex(kept)
  }

  deinit { stop() }

  /// Unloads the echo canceller. If `realSink` still exists, the streams on the echo canceller's
  /// sink move to it, and it becomes the default if the echo canceller's sink is the default.
  public func stop() {
    module.withLock { module in
      module?.unload()
      module = nil
    }
  }

  /// Unloads the echo cancellers that killed processes have left behind.
  ///
  /// - Parameter defaultSink: the name that `willLoad` received; nil if it is unknown. If this sink
  ///   exists, the streams on the echo canceller's sink move to it, and it becomes the default if
  ///   the echo canceller's sink is the default.
  public static func removeOrphans(
    serverAddress: String? = nil, defaultSink: String?
  ) throws(SoundServerError) {
    try VoiceModule.removeOrphans(serverAddress: serverAddress, fallback: defaultSink)
  }
}
