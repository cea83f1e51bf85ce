// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The C interface of DeepFilterNet, loaded at run time [libDF/src/capi.rs in
/// github.com/Rikorose/DeepFilterNet].
struct Library {
  typealias State = UnsafeMutableRawPointer
  /// The parameters are the path of the model, the attenuation limit in dB, and the log level or
  /// nil. Versions of the library without a log level ignore the last parameter.
  typealias Create =
    @convention(c) (UnsafePointer<CChar>, Float, UnsafePointer<CChar>?) -> State?
  typealias FrameLength = @convention(c) (State) -> Int
  /// The parameters are the state, one block of input, and one block of output. Returns the local
  /// signal-to-noise ratio in dB.
  typealias ProcessFrame =
    @convention(c) (State, UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>) -> Float
  typealias Free = @convention(c) (State) -> Void

  let create: Create
  let frameLength: FrameLength
  let processFrame: ProcessFrame
  let free: Free

  /// - Throws: `Failure` if the file cannot be loaded or lacks one of the functions.
  init(path: String) throws(Failure) {
    // A slash prevents a search in system folders.
    let place = path.contains("/") ? path : "./" + path
    guard let handle = dlopen(place, RTLD_NOW | RTLD_LOCAL) else {
      let reason = dlerror().map { String(cString: $0) } ?? "the reason is unknown"
      throw Failure(reason: "cannot load the library: \(reason)")
    }
    func symbol<Function>(_ name: String, _ type: Function.Type) throws(Failure) -> Function {
      guard let address = dlsym(handle, name) else {
        throw Failure(reason: "'\(path)' has no function \(name)")
      }
      return unsafeBitCast(address, to: type)
    }
    create = try symbol("df_create", Create.self)
    frameLength = try symbol("df_get_frame_length", FrameLength.self)
    processFrame = try symbol("df_process_frame", ProcessFrame.self)
    free = try symbol("df_free", Free.self)
  }
}

/// A stream of samples that the model processes in blocks of 480.
struct Stream {
  static let blockFrames = 480
  /// The attenuation limit in dB. Without a limit, the model may remove one of two talkers.
  static let attenuationLimit: Float = 18

  private let library: Library
  private let state: Library.State
  private var input: [Float] = []
  /// The zeros at the start keep the delay independent of the request sizes.
  private var output = [Float](repeating: 0, count: queueDelayFrames)
  private var block = [Float](repeating: 0, count: blockFrames)

  /// - Throws: `Failure` if the library does not accept the model, or if the model's blocks do not
  ///   have `blockFrames` samples.
  init(_ library: Library, model: String) throws(Failure) {
    self.library = library
    guard let state = library.create(model, Self.attenuationLimit, nil) else {
      throw Failure(reason: "the library does not accept the model '\(model)'")
    }
    self.state = state
    let length = library.frameLength(state)
    guard length == Self.blockFrames else {
      throw Failure(
        reason: "the model '\(model)' has blocks of \(length) frames, not \(Self.blockFrames)")
    }
  }

  func end() { library.free(state) }

  /// Replaces the samples with enhanced samples, which are delayed by `modelDelayFrames` +
  /// `queueDelayFrames`.
  ///
  /// - Throws: `Failure` if the library returns numbers that are not finite.
  mutating func process(_ samples: inout [Float]) throws(Failure) {
    input += samples
    var start = 0
    while input.count - start >= Self.blockFrames {
      var part = Array(input[start..<(start + Self.blockFrames)])
      _ = library.processFrame(state, &part, &block)
      guard block.allSatisfy(\.isFinite) else {
        throw Failure(reason: "the library returned samples that are not finite")
      }
      output += block
      start += Self.blockFrames
    }
    input.removeFirst(start)
    samples.replaceSubrange(0..., with: output.prefix(samples.count))
    output.removeFirst(samples.count)
  }
}
