// SPDX-License-Identifier: Apache-2.0

/// Why there is no segment.
public enum SegmentProblem: Error, Sendable, Equatable, CustomStringConvertible {
  case fetch(FetchError)
  /// What it needs besides could not be had: `what` is "its key" or the like.
  case part(what: String, FetchError)
  /// The rules forbid it.
  case refused(AccessRefusal)
  /// What came is not what it should be, with the reason.
  case unusable(String)
  case interrupted

  public var description: String {
    switch self {
    case .fetch(let error): error.description
    case .part(let what, let error): "\(what): \(error)"
    case .refused(let refusal): refusal.description
    case .unusable(let reason): reason
    case .interrupted: "interrupted"
    }
  }

  /// Nothing comes from the server, rather than the wrong thing.
  var isOfLine: Bool {
    switch self {
    case .fetch(let error), .part(_, let error): error.isPassing
    default: false
    }
  }
}

/// Fetches whole segments of one media playlist and takes their encryption away.
struct SegmentFetcher {
  private let fetcher: any ResourceFetcher
  private let loader: PlaylistLoader
  private let playlist: ResourceAddress
  private var keys: [ResourceAddress: [UInt8]] = [:]
  private var map: (MediaMap, [UInt8])?

  static let mostMapBytes = 8 << 20
  /// Of a body that is not what it should be.
  private static let attempts = 2

  /// - Parameter playlist: where it was found.
  init(_ fetcher: any ResourceFetcher, _ loader: PlaylistLoader, playlist: ResourceAddress) {
    self.fetcher = fetcher
    self.loader = loader
    self.playlist = playlist
  }

  /// - Parameter goesOn: asked some ten times a second; false ends it.
  mutating func fetch(
    _ segment: MediaSegment, goesOn: () -> Bool
  ) throws(SegmentProblem) -> (body: [UInt8], map: [UInt8]?) {
    let map = try segment.map.map { (map) throws(SegmentProblem) in
      try self.fetch(map, of: segment, goesOn)
    }
    var failures = 0
    while true {
      do throws(SegmentProblem) {
        let body = try decrypted(
          segment.uri, segment.range, segment.keys, limit: PresentationKeeper.mostSegmentBytes,
          of: segment, goesOn)
        guard let format = SegmentFormat(body) else {
          throw .unusable("it is no sound that HLS carries")
        }
        if let problem = format.problem(body) { throw .unusable(problem) }
        return (body, map)
      } catch {
        failures += 1
        guard case .unusable = error, failures < Self.attempts else { throw error }
        // A key that changed without a new address is the likeliest reason.
        keys = [:]
      }
    }
  }

  private mutating func fetch(
    _ map: MediaMap, of segment: MediaSegment, _ goesOn: () -> Bool
  ) throws(SegmentProblem) -> [UInt8] {
    if let old = self.map, old.0 == map { return old.1 }
    do throws(SegmentProblem) {
      let bytes = try decrypted(
        map.uri, map.range, map.keys, limit: Self.mostMapBytes, of: segment, goesOn)
      guard !bytes.isEmpty else { throw .unusable("it is empty") }
      self.map = (map, bytes)
      return bytes
    } catch {
      switch error {
      case .fetch(let error): throw .part(what: "its initialisation section", error)
      case .unusable(let reason): throw .unusable("its initialisation section: \(reason)")
      default: throw error
      }
    }
  }

  private mutating func decrypted(
    _ uri: String, _ range: ByteRange?, _ keys: [SegmentKey], limit: Int,
    of segment: MediaSegment, _ goesOn: () -> Bool
  ) throws(SegmentProblem) -> [UInt8] {
    let bytes = try bytes(uri, range, limit: limit, goesOn)
    guard !keys.isEmpty else { return bytes }
    guard let key = keys.first(where: \.isUsable) else { throw .unusable(keys.problem) }
    let secret = try fetch(key, goesOn)
    do throws(SegmentDecryption.Problem) {
      return try SegmentDecryption.decrypted(
        bytes, key: secret, vector: key.vector(forSequence: segment.sequence))
    } catch { throw .unusable(error.description) }
  }

  private mutating func fetch(
    _ key: SegmentKey, _ goesOn: () -> Bool
  ) throws(SegmentProblem) -> [UInt8] {
    let address = try address(of: key.uri)
    if let known = keys[address] { return known }
    do throws(SegmentProblem) {
      let bytes = try bytes(key.uri, nil, limit: 4096, goesOn)
      guard bytes.count == 16 else {
        throw .unusable(SegmentDecryption.Problem.keyLength(bytes.count).description)
      }
      if keys.count >= 64 { keys = [:] }
      keys[address] = bytes
      return bytes
    } catch {
      switch error {
      case .fetch(.tooLong): throw .unusable("its key has more than 16 bytes")
      case .fetch(let error): throw .part(what: "its key", error)
      default: throw error
      }
    }
  }

  private func bytes(
    _ uri: String, _ range: ByteRange?, limit: Int, _ goesOn: () -> Bool
  ) throws(SegmentProblem) -> [UInt8] {
    let address = try address(of: uri)
    do throws(FetchError) {
      return try fetcher.fetch(
        FetchRequest(address, range: range, limit: limit), goesOn: { _ in goesOn() }
      ).bytes
    } catch {
      switch error {
      case .abandoned, .interrupted: throw .interrupted
      case .refused(let refusal): throw .refused(refusal)
      default: throw .fetch(error)
      }
    }
  }

  private func address(of uri: String) throws(SegmentProblem) -> ResourceAddress {
    do throws(PresentationError) { return try loader.address(of: uri, in: playlist) } catch {
      if case .refused(let refusal) = error { throw .refused(refusal) }
      throw .unusable(error.description)
    }
  }
}

extension SegmentKey {
  /// 16 bytes, given as they are.
  var isUsable: Bool { method == .aes128 && format == "identity" }
}

extension [SegmentKey] {
  /// Why none of them is of use.
  var problem: String {
    let names = map { key in
      switch key.method {
      case .aes128: "AES-128 with keys of \(key.format.prefix(60))"
      case .other(let name): String(name.prefix(60))
      }
    }
    return "it is encrypted by \(names.joined(separator: ", ")), which only licensed players read"
  }
}
