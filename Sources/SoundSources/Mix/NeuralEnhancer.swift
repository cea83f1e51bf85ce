// SPDX-License-Identifier: Apache-2.0

package import AudioMix
private import Binaural
private import Glibc
package import Rendering
private import System

/// Runs the user's DeepFilterNet library in the separate program `stillstage-separator`.
///
/// If the library crashes or hangs, only the child process ends, and `failure` states the reason.
///
/// ## Threading
/// Use an instance from one thread at a time. `enhance` waits for the child process.
package final class NeuralEnhancer: SpeechEnhancer {
  /// Why the enhancer has failed, with advice; nil if it has not failed. After a failure, the
  /// output is silence.
  package private(set) var failure: String?

  private static let advice = "use another version of the DeepFilterNet 3 library and model"
  private let files: NeuralSeparatorFiles
  private let answerSeconds: Double
  private let socket: Int32
  private let child: ChildProcess
  private var hasSound = false
  private var resetIsDue = false

  /// Starts the child process and loads the model.
  ///
  /// - Parameters:
  ///   - sampleRate: the sample rate in Hz, which must be 48000.
  ///   - startSeconds: the longest time for loading the model.
  ///   - answerSeconds: the longest time to wait for an answer.
  /// - Throws: `PlaybackError.neuralSeparator` for any other sample rate, or if the child process
  ///   cannot start or load the model.
  package init(
    _ files: NeuralSeparatorFiles, sampleRate: Int, startSeconds: Double = 20,
    answerSeconds: Double = 5
  ) throws(PlaybackError) {
    guard sampleRate == 48000 else {
      throw .neuralSeparator(
        "it works only at 48000 Hz, but the sound is at \(sampleRate) Hz; "
          + "choose a sample rate of 48000 Hz")
    }
    (self.files, self.answerSeconds) = (files, answerSeconds)
    (socket, child) = try Self.start(files)
    guard exchange(count: 0, samples: nil, seconds: startSeconds) else {
      throw .neuralSeparator(failure ?? "it did not start; \(Self.advice)")
    }
  }

  deinit {
    close(socket)
    child.destroy()
  }

  private static func start(
    _ files: NeuralSeparatorFiles
  ) throws(PlaybackError) -> (Int32, ChildProcess) {
    let places = environmentVariable("STILLSTAGE_SEPARATOR_PROGRAM").map { [$0] } ?? places
    let missing =
      "cannot start its program at \(places.joined(separator: " or ")); install Stillstage again, "
      + "or correct STILLSTAGE_SEPARATOR_PROGRAM if it is set"
    guard let program = places.first(where: isExecutableFile) else {
      throw .neuralSeparator(missing)
    }
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
      throw .neuralSeparator(
        "cannot create a socket pair: \(SystemError.latest); "
          + "close other programs and start Stillstage again")
    }
    defer { close(ends[1]) }
    var launch = ProgramLaunch([program, files.library, files.model])
    launch.environment = ProgramLaunch.readerEnvironment
    launch.input = .descriptor(ends[1])
    launch.output = .null
    launch.errors = .null
    launch.group = .own
    launch.resetsSignals = true
    launch.closesDescriptors = true
    do { return (ends[0], try launch.start()) } catch {
      close(ends[0])
      throw .neuralSeparator(missing)
    }
  }

  private static var places: [String] {
    guard let folder = programDirectory() else { return [] }
    let name = "stillstage-separator"
    return ["\(folder)/\(name)", "\(folder)/../libexec/stillstage/\(name)"]
  }

  package func reset() { resetIsDue = hasSound }

  package func enhance(_ samples: UnsafeMutablePointer<Float>, frames: Int) {
    if resetIsDue {
      (resetIsDue, hasSound) = (false, false)
      guard send(0), exchange(count: 0, samples: nil, seconds: answerSeconds) else {
        return samples.update(repeating: 0, count: frames)
      }
    }
    hasSound = true
    let sound = UnsafeMutableRawBufferPointer(start: samples, count: 4 * frames)
    guard failure == nil, send(UInt32(frames)), send(UnsafeRawBufferPointer(sound)),
      exchange(count: frames, samples: sound, seconds: answerSeconds)
    else { return samples.update(repeating: 0, count: frames) }
  }

  /// Receives an answer, including the samples if `samples` is not nil. Returns false if the
  /// enhancer fails now or has failed before.
  private func exchange(
    count: Int, samples: UnsafeMutableRawBufferPointer?, seconds: Double
  ) -> Bool {
    guard failure == nil else { return false }
    var length: UInt32 = 0
    guard withUnsafeMutableBytes(of: &length, { receive($0, seconds) }) else { return false }
    if length == 0 {
      guard let samples else { return true }
      return receive(samples, seconds)
    }
    var text = [UInt8](repeating: 0, count: Int(min(length, 4096)))
    guard text.withUnsafeMutableBytes({ receive($0, seconds) }) else { return false }
    failure = "\(String(decoding: text, as: UTF8.self)); \(Self.advice)"
    return false
  }

  private func send(_ number: UInt32) -> Bool { withUnsafeBytes(of: number) { send($0) } }

  private func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      let count = Glibc.send(socket, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
      if count < 0, errno == EINTR { continue }
      // If the child process has ended, `receive` finds the reason.
      guard count > 0 else { return true }
      rest = rest.dropFirst(count)
    }
    return true
  }

  private func receive(_ bytes: UnsafeMutableRawBufferPointer, _ seconds: Double) -> Bool {
    var rest = bytes[...]
    // Count the waits, because a clock also runs while this process is stopped.
    var waits = Int(seconds * 10)
    while !rest.isEmpty {
      var request = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      let ready = poll(&request, 1, 100)
      if ready < 0, errno == EINTR { continue }
      if ready == 0 {
        waits -= 1
        guard waits > 0 else {
          failure = "'\(files.library)' did not answer for \(seconds) s; \(Self.advice)"
          child.destroy()
          return false
        }
        continue
      }
      let part = UnsafeMutableRawBufferPointer(rebasing: rest)
      let count = recv(socket, part.baseAddress, part.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        let ending = child.wait(seconds: 2)
        let reason = ending.map(\.description) ?? "the reason is unknown"
        failure = "the process that runs '\(files.library)' ended (\(reason)); \(Self.advice)"
        return false
      }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
