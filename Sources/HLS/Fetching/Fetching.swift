// SPDX-License-Identifier: Apache-2.0

/// Something to be fetched.
public struct FetchRequest: Sendable, Equatable {
  public var address: ResourceAddress
  /// Nil for all of it.
  public var range: ByteRange?
  /// More bytes than these are refused.
  public var limit: Int
  /// What the server gave with the copy that is there already: it need not send it again.
  public var validator: FetchValidator?

  public init(
    _ address: ResourceAddress, range: ByteRange? = nil, limit: Int,
    validator: FetchValidator? = nil
  ) {
    self.address = address
    self.range = range
    self.limit = limit
    self.validator = validator
  }
}

/// By which a server knows whether a copy is still the newest.
public struct FetchValidator: Sendable, Equatable {
  public var tag: String?
  public var lastModified: String?

  public init(tag: String? = nil, lastModified: String? = nil) {
    self.tag = tag
    self.lastModified = lastModified
  }
}

/// How a fetch goes, or went. Times are seconds since it was asked for.
public struct FetchTiming: Sendable, Equatable {
  public var bytes = 0
  public var seconds = 0.0
  /// Until the first byte of the body.
  public var firstByte: Double?
  /// What the server says it will be, bytes.
  public var expected: Int?

  public init(bytes: Int = 0, seconds: Double = 0, firstByte: Double? = nil, expected: Int? = nil) {
    self.bytes = bytes
    self.seconds = seconds
    self.firstByte = firstByte
    self.expected = expected
  }
}

/// What was fetched.
public struct FetchedResource: Sendable, Equatable {
  public var bytes: [UInt8]
  public var timing: FetchTiming
  /// Where it was in the end, after redirections: relative addresses in it are relative to this.
  public var address: ResourceAddress
  public var validator: FetchValidator?
  /// The copy that is there is still the newest; `bytes` is empty.
  public var isUnchanged: Bool

  public init(
    bytes: [UInt8], timing: FetchTiming, address: ResourceAddress,
    validator: FetchValidator? = nil, isUnchanged: Bool = false
  ) {
    self.bytes = bytes
    self.timing = timing
    self.address = address
    self.validator = validator
    self.isUnchanged = isUnchanged
  }
}

/// Why nothing was fetched.
public enum FetchError: Error, Sendable, Equatable {
  /// Against the rules; asking again does not help.
  case refused(AccessRefusal)
  /// The server's answer is no success, such as 404.
  case status(Int, retryAfter: Double?)
  /// There is no such file.
  case missing(String)
  /// Nothing came for so many seconds, or it took too long in all.
  case timedOut(seconds: Double)
  /// The connection broke, or could not be made, with the reason.
  case connection(String)
  /// More bytes than the limit.
  case tooLong(limit: Int)
  /// Fewer bytes than were promised.
  case tooShort(expected: Int, got: Int)
  /// `progress` said so.
  case abandoned(FetchTiming)
  /// The caller is ending.
  case interrupted

  /// Whether asking again may help.
  public var isPassing: Bool {
    switch self {
    case .status(let code, _): code == 408 || code == 429 || code >= 500
    case .timedOut, .connection, .tooShort: true
    case .refused, .missing, .tooLong, .abandoned, .interrupted: false
    }
  }
}

extension FetchError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .refused(let refusal): refusal.description
    case .status(let code, _): "the server answers \(code)"
    case .missing(let reason): reason
    case .timedOut(let seconds): "no answer within \(Int(seconds.rounded(.up))) s"
    case .connection(let reason): reason
    case .tooLong(let limit): "it has more than \(limit >> 20) MB"
    case .tooShort(let expected, let got): "it ended after \(got) of \(expected) bytes"
    case .abandoned: "it was given up"
    case .interrupted: "interrupted"
    }
  }
}

/// Gets bytes from somewhere. Used by one thread at a time; a call waits until it is done.
public protocol ResourceFetcher: Sendable {
  /// - Parameter goesOn: asked some ten times a second, also while nothing comes; false gives up.
  func fetch(
    _ request: FetchRequest, goesOn: (FetchTiming) -> Bool
  ) throws(FetchError) -> FetchedResource
}
