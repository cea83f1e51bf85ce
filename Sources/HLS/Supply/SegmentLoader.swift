// SPDX-License-Identifier: Apache-2.0

/// The reason why a segment cannot be loaded.
enum LoadProblem: Error, Equatable, CustomStringConvertible {
  case fetch(FetchError)
  /// The rendition's playlist could not be fetched. The text is the full reason.
  case playlist(FetchError, String)
  /// The content is incomplete or damaged, is not audio, or is encrypted with another key. The text
  /// is the reason.
  case content(String)
  /// The encryption is not supported, the key does not have 16 bytes, or the key cannot be fetched
  /// and another request would not help. The text is the reason.
  case encryption(String)
  case address(String)
  /// The rendition's playlist does not list the segment, or marks it as a gap. The text is the
  /// reason.
  case absent(String)

  /// Whether another request may succeed.
  var isPassing: Bool {
    switch self {
    case .fetch(let error), .playlist(let error, _): error.isPassing
    case .content: true
    case .encryption, .address, .absent: false
    }
  }

  /// Whether this program cancelled the request.
  var isOwn: Bool {
    switch self {
    case .fetch(.abandoned), .fetch(.interrupted): true
    default: false
    }
  }

  /// False only for `absent`.
  var isOfListedSegment: Bool { if case .absent = self { false } else { true } }

  /// Whether the server gave no complete answer, or was too slow.
  var isOfTheLine: Bool {
    switch self {
    case .fetch(let error), .playlist(let error, _): error.isOfTheLine
    default: false
    }
  }

  /// Whether the request was given up because the server was too slow.
  var isTooSlow: Bool {
    switch self {
    case .fetch(.tooSlow), .playlist(.tooSlow, _): true
    default: false
    }
  }

  var description: String {
    switch self {
    case .fetch(let error): error.description
    case .playlist(_, let reason), .content(let reason), .encryption(let reason),
      .address(let reason), .absent(let reason):
      reason
    }
  }
}

/// A loader that fetches segments with their initialisation sections and keys.
struct SegmentLoader {
  /// Maximum size of a segment or an initialisation section, in bytes.
  static let mostBytes = 64 << 20
  private static let mostRemembered = 64

  let fetcher: any ResourceFetcher
  let playlists: PlaylistLoader
  /// Whether a network address in a local playlist may be fetched.
  let leavesFolder: Bool
  private var keys: [ResourceAddress: [UInt8]] = [:]
  private var maps: [MapPlace: [UInt8]] = [:]

  private struct MapPlace: Hashable {
    var address: ResourceAddress
    var offset: Int?
    var length: Int?
  }

  init(
    _ playlists: PlaylistLoader, fetcher: any ResourceFetcher, leavesFolder: Bool = false
  ) {
    self.playlists = playlists
    self.leavesFolder = leavesFolder
    self.fetcher = fetcher
  }

  /// Fetches a segment, decrypts it and checks it with `SegmentFormat.problem`.
  ///
  /// - Parameters:
  ///   - playlist: the address of the segment's playlist.
  ///   - attempts: the maximum number of attempts; a number below 1 counts as 1. Only after invalid
  ///     content is another attempt made.
  ///   - goesOn: return false to cancel. Its argument is `FetchTiming()` during requests for keys
  ///     and initialisation sections.
  /// - Returns: the segment, and the timing of its body.
  /// - Throws: the problem of the last attempt.
  mutating func load(
    _ segment: MediaSegment, in playlist: ResourceAddress, attempts: Int,
    goesOn: (FetchTiming) -> Bool
  ) throws(LoadProblem) -> (SuppliedSegment, FetchTiming) {
    for _ in 1..<max(1, attempts) {
      do throws(LoadProblem) {
        return try load(segment, in: playlist, goesOn: goesOn)
      } catch {
        guard case .content = error else { throw error }
        // Fetch the keys again: the key at the same address may have changed.
        keys = [:]
      }
    }
    return try load(segment, in: playlist, goesOn: goesOn)
  }

  mutating func load(
    _ segment: MediaSegment, in playlist: ResourceAddress, goesOn: (FetchTiming) -> Bool
  ) throws(LoadProblem) -> (SuppliedSegment, FetchTiming) {
    let key = try Self.usable(segment.keys)
    let map = try segment.map.map { (map) throws(LoadProblem) in
      try initialisation(map, of: segment, in: playlist, goesOn: goesOn)
    }
    let place = try address(segment.uri, in: playlist)
    let secret = try key.map { (key) throws(LoadProblem) in
      try self.key(key, in: playlist, goesOn: goesOn)
    }
    let resource = try fetch(place, segment.range, Self.mostBytes, goesOn)
    var bytes = resource.bytes
    if let key, let secret {
      bytes = try Self.decrypted(bytes, secret, key.vector(forSequence: segment.sequence))
    }
    guard let format = SegmentFormat(bytes) else {
      throw .content("the segment is not audio" + Self.guess(bytes))
    }
    if let problem = format.problem(bytes) { throw .content(problem) }
    let supplied = SuppliedSegment(
      name: place.name, sequence: segment.sequence, discontinuity: segment.discontinuity,
      initialisation: map ?? [], bytes: bytes, format: format)
    return (supplied, resource.timing)
  }

  private func address(
    _ uri: String, in playlist: ResourceAddress
  ) throws(LoadProblem) -> ResourceAddress {
    do throws(PresentationError) {
      let place = try playlists.address(of: uri, in: playlist)
      if playlists.folder != nil, !leavesFolder, case .network = place {
        throw PresentationError.nothing(address: place.name, reason: "")
      }
      return place
    } catch {
      if case .nothing(let name, _) = error {
        throw .fetch(.missing("\(name) is not in the folder"))
      }
      throw .address(error.description)
    }
  }

  private func fetch(
    _ address: ResourceAddress, _ range: ByteRange?, _ limit: Int,
    _ goesOn: (FetchTiming) -> Bool
  ) throws(LoadProblem) -> FetchedResource {
    do throws(FetchError) {
      return try fetcher.fetch(
        FetchRequest(address, range: range, limit: limit), goesOn: goesOn)
    } catch { throw .fetch(error) }
  }

  private mutating func initialisation(
    _ map: MediaMap, of segment: MediaSegment, in playlist: ResourceAddress,
    goesOn: (FetchTiming) -> Bool
  ) throws(LoadProblem) -> [UInt8] {
    let address = try address(map.uri, in: playlist)
    let place = MapPlace(address: address, offset: map.range?.offset, length: map.range?.length)
    if let known = maps[place] { return known }
    var bytes = try fetch(address, map.range, Self.mostBytes) { _ in goesOn(FetchTiming()) }.bytes
    if let key = try Self.usable(map.keys) {
      let secret = try self.key(key, in: playlist, goesOn: goesOn)
      bytes = try Self.decrypted(bytes, secret, key.vector(forSequence: segment.sequence))
    }
    guard MP4Box(bytes, at: 0) != nil else {
      throw .content("the initialisation section is not valid MP4" + Self.guess(bytes))
    }
    if maps.count >= Self.mostRemembered { maps = [:] }
    maps[place] = bytes
    return bytes
  }

  private mutating func key(
    _ key: SegmentKey, in playlist: ResourceAddress, goesOn: (FetchTiming) -> Bool
  ) throws(LoadProblem) -> [UInt8] {
    let address = try address(key.uri, in: playlist)
    if let known = keys[address] { return known }
    let bytes: [UInt8]
    do throws(LoadProblem) {
      bytes = try fetch(address, nil, 4096) { _ in goesOn(FetchTiming()) }.bytes
    } catch {
      if case .fetch(.tooLong) = error {
        throw .encryption("the decryption key has more than 16 bytes")
      }
      guard case .fetch(let reason) = error else { throw error }
      if error.isPassing || error.isOwn { throw error }
      throw .encryption("the decryption key cannot be fetched: \(reason)")
    }
    guard bytes.count == 16 else {
      throw .encryption("the decryption key must have 16 bytes, but has \(bytes.count)")
    }
    if keys.count >= Self.mostRemembered { keys = [:] }
    keys[address] = bytes
    return bytes
  }

  /// Returns the first key that can be used; nil if there are no keys.
  ///
  /// - Throws: `.encryption` if none of the keys can be used.
  private static func usable(_ keys: [SegmentKey]) throws(LoadProblem) -> SegmentKey? {
    guard !keys.isEmpty else { return nil }
    guard let key = keys.first(where: \.isUsable) else { throw .encryption(keys.problem) }
    return key
  }

  private static func decrypted(
    _ bytes: [UInt8], _ key: [UInt8], _ vector: [UInt8]
  ) throws(LoadProblem) -> [UInt8] {
    do throws(SegmentDecryption.Problem) {
      return try SegmentDecryption.decrypted(bytes, key: key, vector: vector)
    } catch { throw .content(error.description) }
  }

  /// Returns a text about unusable content, to append to an error message; empty if the content is
  /// not recognised.
  private static func guess(_ bytes: [UInt8]) -> String {
    let start = String(decoding: bytes.prefix(200), as: UTF8.self).lowercased()
    if bytes.isEmpty { return ": it is empty" }
    return start.contains("<html") || start.contains("<!doctype") ? " but an HTML page" : ""
  }
}

extension SegmentKey {
  /// Whether this program supports the method and the key format: AES-128 and `identity`.
  var isUsable: Bool { method == .aes128 && format == "identity" }
}

extension [SegmentKey] {
  /// The reason why none of the keys can be used.
  var problem: String {
    let names = map { key in
      switch key.method {
      case .aes128: "AES-128 with the key format \(key.format.prefix(60))"
      case .other(let name): String(name.prefix(60))
      }
    }
    return "the encryption of the sound is not supported: \(names.joined(separator: ", "))"
  }
}

extension FetchError {
  /// Whether the server gave no complete answer, or was too slow.
  fileprivate var isOfTheLine: Bool {
    switch self {
    case .connection, .timedOut, .tooSlow, .tooShort: true
    default: false
    }
  }
}
