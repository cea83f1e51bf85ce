// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

/// Reads SOFA files through the separate program `stillstage-sofa`, because libmysofa may crash or
/// hang on untrusted files.
///
/// ## Threading
/// All members may be used from any thread. `load` blocks until the file is read.
public struct SofaLoader: Sendable {
  /// The path of the reader `stillstage-sofa`; nil to search `readerPlaces`.
  public var readerPath: String?
  /// The time after which the reader is stopped, in s; see `CapturedProgram.timeoutSeconds`.
  public var timeoutSeconds: Double
  /// The cache that `load` uses for the contents of files; nil to read a file each time. A file
  /// that has changed is read again.
  public var cache: DesignCache?
  /// A function that is polled while the file is read. It returns true to stop the reader.
  public var isCancelled: @Sendable () -> Bool

  public init(
    readerPath: String? = nil, timeoutSeconds: Double = 5, cache: DesignCache? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    self.readerPath = readerPath
    self.timeoutSeconds = timeoutSeconds
    self.cache = cache
    self.isCancelled = isCancelled
  }

  /// The paths at which to look for the reader, in order.
  ///
  /// If the environment variable `STILLSTAGE_SOFA` is set and not empty, its value is the only
  /// path. Otherwise, the paths are those of `stillstage-sofa` in the program's directory and in
  /// `../libexec/stillstage` relative to that directory. There are no paths if the program's
  /// directory is unknown.
  public static var readerPlaces: [String] {
    if let given = environmentVariable("STILLSTAGE_SOFA") { return [given] }
    guard let directory = programDirectory() else { return [] }
    return [
      "\(directory)/stillstage-sofa", "\(directory)/../libexec/stillstage/stillstage-sofa",
    ]
  }

  /// Reads a SimpleFreeFieldHRIR SOFA file.
  ///
  /// The levels of lateral sources identify the left ear. If the levels do not distinguish the
  /// ears, ReceiverPosition is used. If neither distinguishes them, channel 0 is the left ear. Only
  /// the measurements at the source distance with the most measurements are used.
  ///
  /// - Throws: `HRTFError` if the file cannot be read or used, or if the reader is missing, fails
  ///   or is stopped.
  public func load(_ path: String) throws(HRTFError) -> HRTFSet {
    try HRTFSet(contents(path), path: path)
  }

  /// Returns the name of the cache entry for a file in its current state; nil if the file cannot be
  /// found.
  private static func identity(of path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0, let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return CacheName.of(
      ["set 1", String(cString: real)]
        + [
          Int(status.st_size), Int(status.st_ino), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
          status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ].map { "\($0)" })
  }

  /// Returns the contents of a file, from the cache or from the reader.
  ///
  /// - Throws: `HRTFError` if the file cannot be read, or if the reader is missing, refuses the
  ///   file, fails or is stopped.
  func contents(_ path: String) throws(HRTFError) -> SofaContents {
    let identity = cache.flatMap { _ in Self.identity(of: path) }
    if let cache, let identity, let kept = cache.loadBytes(identity),
      let contents = SofaContents(answer: kept)
    {
      return contents
    }
    switch try answer(path) {
    case .accepted(let contents, let bytes):
      if let cache, let identity, identity == Self.identity(of: path) {
        cache.store(bytes, identity)
      }
      return contents
    case .refused(let error, _): throw error
    }
  }

  enum Answer {
    /// The contents, and the bytes that they were decoded from.
    case accepted(SofaContents, [UInt8])
    /// The reason for the refusal, and the attributes that were read.
    case refused(HRTFError, [String: String])
  }

  func answer(_ path: String) throws(HRTFError) -> Answer {
    let reader = try locatedReader()
    // "./" prevents a search in PATH. The reader has no options, so it takes any `path` as a file.
    let process = CapturedProgram(
      [reader.contains("/") ? reader : "./" + reader, path],
      environment: ProgramLaunch.readerEnvironment, timeoutSeconds: timeoutSeconds,
      maximumBytes: SofaContents.largestAnswerBytes, isCancelled: isCancelled)
    guard !path.utf8.contains(0) else {
      throw .cannotOpen(path: path, reason: "its path contains a NUL byte")
    }
    guard let (output, ending) = process.run() else { throw .readerNotFound(places: [reader]) }
    switch ending {
    case .cancelled: throw .interrupted
    case .timedOut: throw .timedOut(path: path, seconds: timeoutSeconds)
    case .signalled(SIGXCPU): throw .timedOut(path: path, seconds: timeoutSeconds)
    case .signalled(let signal): throw .crashed(path: path, signal: signal)
    case .tooMuchOutput: throw .readerFailed(path: path, reason: "its output is too long")
    case .exited(127): throw .readerNotFound(places: [reader])
    case .exited, .unknown: break
    }
    if ending != .exited(1), let contents = SofaContents(answer: output) {
      return .accepted(contents, output)
    }
    return try refusal(path, output, ending)
  }

  private func refusal(
    _ path: String, _ output: [UInt8], _ ending: ProgramEnding
  ) throws(HRTFError) -> Answer {
    guard ending != .exited(0), output.count <= SofaContents.largestTextBytes else {
      throw .readerFailed(
        path: path, reason: "its output of \(output.count) bytes is invalid")
    }
    let lines = output.split(separator: UInt8(ascii: "\n"), maxSplits: 1)
    let first = String(decoding: lines.first ?? [], as: UTF8.self)
    let attributes = lines.count > 1 ? SofaText(lines[1]).attributes : [:]
    if let reason = first.dropping(prefix: "cannot-open: ") {
      return .refused(.cannotOpen(path: path, reason: reason), attributes)
    }
    if let reason = first.dropping(prefix: "not-sofa: ") {
      return .refused(.notSOFA(path: path, reason: reason), attributes)
    }
    if let reason = first.dropping(prefix: "refused: ") {
      return .refused(.refused(path: path, check: reason), attributes)
    }
    throw .readerFailed(path: path, reason: "it ended unexpectedly (\(ending))")
  }

  private func locatedReader() throws(HRTFError) -> String {
    let places = readerPath.map { [$0] } ?? Self.readerPlaces
    guard let found = places.first(where: isExecutableFile) else {
      throw .readerNotFound(places: places)
    }
    return found
  }
}

extension ProgramLaunch {
  /// The environment for helper programs such as the SOFA reader.
  ///
  /// It contains PATH, HOME, some variables of the dynamic loader, the sanitizers and pkg-config,
  /// and the ID of this process. It disables Swift's crash reporter, which can hang.
  package static var readerEnvironment: [String] {
    let names = [
      "PATH", "HOME", "LD_LIBRARY_PATH", "LD_PRELOAD", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR",
      "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS",
    ]
    return ["SWIFT_BACKTRACE=enable=no", "STILLSTAGE_PARENT=\(getpid())"]
      + names.compactMap { name in environmentVariable(name).map { "\(name)=\($0)" } }
  }
}

extension String {
  fileprivate func dropping(prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }
}
