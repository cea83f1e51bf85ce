// SPDX-License-Identifier: Apache-2.0

/// A request for a resource, or for a byte range of it.
public struct FetchRequest: Sendable, Equatable {
  public var address: ResourceAddress
  /// The byte range; nil for the complete resource.
  public var range: ByteRange?
  /// Maximum size of the body, in bytes. A larger body causes `FetchError.tooLong`.
  public var limit: Int
  /// The validator of the caller's copy; nil if there is no copy.
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

/// The ETag and Last-Modified values of a copy. A server uses them to check whether the copy is up
/// to date.
public struct FetchValidator: Sendable, Equatable {
  public var tag: String?
  public var lastModified: String?

  public init(tag: String? = nil, lastModified: String? = nil) {
    self.tag = tag
    self.lastModified = lastModified
  }
}

/// The timing of a fetch. Times are in s since the start of the fetch.
public struct FetchTiming: Sendable, Equatable {
  public var bytes = 0
  public var seconds = 0.0
  /// Time at which the header of the response was complete, which counts as the time of the first
  /// byte. Nil before that, and for a file.
  public var firstByte: Double?
  /// The announced size of the body, in bytes; nil if unknown.
  public var expected: Int?

  public init(bytes: Int = 0, seconds: Double = 0, firstByte: Double? = nil, expected: Int? = nil) {
    self.bytes = bytes
    self.seconds = seconds
    self.firstByte = firstByte
    self.expected = expected
  }
}

/// The result of a successful fetch.
public struct FetchedResource: Sendable, Equatable {
  public var bytes: [UInt8]
  public var timing: FetchTiming
  /// The address after redirects.
  public var address: ResourceAddress
  public var validator: FetchValidator?
  /// Whether the caller's copy is up to date. If so, `bytes` is empty.
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

/// The reason why a resource could not be fetched.
public enum FetchError: Error, Sendable, Equatable {
  /// An access rule forbids the request, the fetcher does not support the address, or there were
  /// too many redirects.
  case refused(AccessRefusal)
  /// The server answered with an HTTP status that does not mean success. `retryAfter` is in s. It
  /// is nil if the server did not state it as a number.
  case status(Int, retryAfter: Double?)
  /// The file does not exist or cannot be read. The text is the reason.
  case missing(String)
  /// Nothing arrived for `seconds`.
  case timedOut(seconds: Double)
  /// The average rate over the last `seconds` was below `TransferPace.least`.
  case tooSlow(seconds: Double)
  /// Another failure, such as a lost connection or an invalid response. The text is the reason.
  case connection(String)
  /// The body is larger than `limit` bytes.
  case tooLong(limit: Int)
  /// The body is shorter than announced or requested. Lengths are in bytes.
  case tooShort(expected: Int, got: Int)
  /// `goesOn` returned false during a request.
  case abandoned(FetchTiming)
  /// `goesOn` returned false before a request or between two requests.
  case interrupted

  /// Whether the same request may succeed if it is repeated.
  public var isPassing: Bool {
    switch self {
    case .status(let code, _): code == 408 || code == 429 || code >= 500
    case .timedOut, .connection, .tooShort: true
    case .refused, .missing, .tooSlow, .tooLong, .abandoned, .interrupted: false
    }
  }
}

extension FetchError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .refused(let refusal): refusal.description
    case .status(let code, _): "the server answered with status \(code)"
    case .missing(let reason): reason
    case .timedOut(let seconds):
      "the request timed out: no data arrived for \(Int(seconds.rounded(.up))) s"
    case .tooSlow(let seconds):
      "the server sent less than \(Int(TransferPace.least)) bytes/s for "
        + "\(Int(seconds.rounded(.up))) s"
    case .connection(let reason): reason
    case .tooLong(let limit) where limit < 1 << 20: "the data exceed \(limit >> 10) KiB"
    case .tooLong(let limit): "the data exceed \(limit >> 20) MiB"
    case .tooShort(let expected, let got): "the data ended after \(got) of \(expected) bytes"
    case .abandoned: "the request was cancelled"
    case .interrupted: "interrupted"
    }
  }
}

/// A type that fetches resources. Use a fetcher from one thread at a time, unless its type allows
/// more.
public protocol ResourceFetcher: Sendable {
  /// Fetches a resource. Blocks until it is complete.
  ///
  /// - Parameter goesOn: called about ten times per second during a network request; return false
  ///   to cancel.
  /// - Throws: the reason why the resource could not be fetched.
  func fetch(
    _ request: FetchRequest, goesOn: (FetchTiming) -> Bool
  ) throws(FetchError) -> FetchedResource
}
