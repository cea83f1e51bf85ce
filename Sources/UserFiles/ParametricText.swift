// SPDX-License-Identifier: Apache-2.0

private import Glibc
public import SignalProcessing

/// Parses the common text format of parametric equalisers, with one filter per line:
///
/// ```
/// Preamp: -6.2 dB
/// Filter 1: ON PK Fc 105 Hz Gain 5.5 dB Q 0.71
/// Filter 2: ON LSC Fc 80 Hz Gain 3,0 dB Q 0,7
/// Filter 3: OFF HP Fc 20 Hz
/// ```
///
/// Peak filters are PK, PEQ and MODAL. Shelves are LS, LSC, LSQ, HS, HSC and HSQ, optionally
/// followed by the slope in dB per octave. LP and LPQ are low-pass filters, HP and HPQ are
/// high-pass filters, and NO is a notch. Comments follow `#`, `;` or `//`. The preamplifier gain is
/// not used.
public enum ParametricText {
  /// An error in the text.
  public struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The line number, from 1; nil if the problem concerns the entire text.
    public let line: Int?
    public let reason: String

    public var description: String { (line.map { "line \($0): " } ?? "") + reason }
  }

  /// Returns the filters that are on.
  ///
  /// - Throws: `Problem` for the first invalid line, or if there is no filter line.
  public static func parse(_ text: String) throws(Problem) -> [ParametricFilter] {
    var filters: [ParametricFilter] = []
    var hasFilters = false
    for (index, raw) in text.split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline
    ).enumerated() {
      let line = raw.withoutComment.trimmed
      guard !line.isEmpty else { continue }
      do throws(Reason) {
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let key = parts[0].trimmed.lowercased()
        guard parts.count == 2 else { throw Reason("'\(Reason.quoted(line))' has no ':'") }
        let words = parts[1].split(whereSeparator: \.isWhitespace).map(String.init)
        var scanner = LineScanner(words)
        switch key {
        case "preamp": try scanner.preamplifier()
        case "channel":
          guard words.map({ $0.lowercased() }) == ["all"] else {
            throw Reason(
              "only 'Channel: all' is supported, because both ears get the same filters")
          }
        case _ where key == "filter" || key.hasPrefix("filter "):
          hasFilters = true
          if let filter = try scanner.filter() { filters.append(filter) }
        default:
          throw Reason("'\(Reason.quoted(key))' is not supported; use Preamp, Filter or Channel")
        }
      } catch { throw Problem(line: index + 1, reason: error.text) }
    }
    guard hasFilters else {
      throw Problem(line: nil, reason: "the file has no line that starts with 'Filter'")
    }
    return filters
  }
}

/// The reason why a line is invalid.
private struct Reason: Error {
  let text: String
  init(_ text: String) { self.text = text }

  static func quoted(_ text: some StringProtocol) -> String { String(text.prefix(40)) }
}

/// Parses the words after the colon in a line.
private struct LineScanner {
  private var words: ArraySlice<String>

  init(_ words: [String]) { self.words = words[...] }

  mutating func preamplifier() throws(Reason) {
    _ = try number("the gain", -100...100)
    try unit("dB")
    try end()
  }

  /// Returns the line's filter; nil if the filter is off.
  mutating func filter() throws(Reason) -> ParametricFilter? {
    var isOn = true
    switch words.first?.lowercased() {
    case "on": words.removeFirst()
    case "off":
      words.removeFirst()
      isOn = false
    case nil: throw Reason("neither a filter type nor OFF follows the colon")
    default: break
    }
    // OFF may stand alone, because programs write unused filters with or without a type.
    guard let name = words.first?.lowercased(), name != "none" else {
      if isOn { throw Reason("the filter type is missing or NONE") }
      return nil
    }
    guard let kind = Self.kinds[name] else {
      if !isOn { return nil }
      throw Reason(
        "the filter type '\(Reason.quoted(name.uppercased()))' is not supported; "
          + "use PK, LS, LSC, HS, HSC, LP, HP or NO")
    }
    words.removeFirst()
    let filter = try rest(kind)
    return isOn ? filter : nil
  }

  private static let kinds: [String: ParametricFilter.Kind] = [
    "pk": .peak, "peq": .peak, "modal": .peak, "ls": .lowShelf, "lsc": .lowShelf,
    "lsq": .lowShelf, "hs": .highShelf, "hsc": .highShelf, "hsq": .highShelf, "lp": .lowPass,
    "lpq": .lowPass, "hp": .highPass, "hpq": .highPass, "no": .notch,
  ]

  private mutating func rest(_ kind: ParametricFilter.Kind) throws(Reason) -> ParametricFilter {
    let isShelf = kind == .lowShelf || kind == .highShelf
    var slope: Double?
    if isShelf, let word = words.first, Self.decimal(word) != nil {
      slope = try number("the slope", 1...60)
      try unit("dB")
    }
    var (frequency, gain, quality): (Double?, Double?, Double?)
    while let key = words.popFirst() {
      switch key.lowercased() {
      case "fc", "freq":
        frequency = try number("Fc", 1...200_000)
        try unit("Hz")
      case "gain":
        gain = try number("the gain", -60...60)
        try unit("dB")
      case "q": quality = try number("Q", 0.01...1000)
      case "bw":
        if words.first?.lowercased() == "oct" { words.removeFirst() }
        quality = Self.quality(octaves: try number("the bandwidth", 0.01...10))
      default:
        throw Reason("'\(Reason.quoted(key))' is not supported; use Fc, Gain, Q or BW")
      }
    }
    guard let frequency else { throw Reason("Fc is missing") }
    let needsGain = isShelf || kind == .peak
    guard let gain = needsGain ? gain : 0 else { throw Reason("the gain is missing") }
    guard kind != .peak || quality != nil else { throw Reason("a peak filter needs Q or BW") }
    let usual =
      isShelf
      ? ParametricFilter.quality(ofSlope: slope.map { $0 / 12 } ?? 0.9, gain: gain)
      : kind == .notch ? 30 : 0.5.squareRoot()
    return ParametricFilter(kind, frequency: frequency, gain: gain, quality: quality ?? usual)
  }

  /// Returns the quality factor Q for a bandwidth in octaves: 1/Q = 2 sinh(octaves * ln 2 / 2).
  private static func quality(octaves: Double) -> Double {
    let power = exp2(octaves / 2)
    return 1 / (power - 1 / power)
  }

  private mutating func number(
    _ name: String, _ range: ClosedRange<Double>
  ) throws(Reason) -> Double {
    guard let word = words.popFirst() else { throw Reason("\(name) has no value") }
    // A unit may follow its number without a space.
    var text = word
    for ending in ["hz", "db"] where text.lowercased().hasSuffix(ending) {
      text.removeLast(2)
      words.insert(ending, at: words.startIndex)
    }
    guard let value = Self.decimal(text) else {
      throw Reason("the value '\(Reason.quoted(word))' of \(name) is not a number")
    }
    guard range.contains(value) else {
      throw Reason(
        "\(name) \(Reason.quoted(word)) is not between \(range.lowerBound) and \(range.upperBound)")
    }
    return value
  }

  private static func decimal(_ text: String) -> Double? {
    let plain = text.replacing(",", with: ".")
    let isPlain = plain.utf8.allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "+-.eE".utf8.contains($0)
    }
    guard isPlain, let value = Double(plain), value.isFinite else { return nil }
    return value
  }

  /// Skips the unit if it is the next word.
  ///
  /// - Throws: `Reason` if the next word is another unit.
  private mutating func unit(_ name: String) throws(Reason) {
    guard let word = words.first?.lowercased() else { return }
    if word == name.lowercased() {
      words.removeFirst()
    } else if ["hz", "khz", "db"].contains(word) {
      throw Reason("the unit must be \(name), not '\(word)'")
    }
  }

  private func end() throws(Reason) {
    if let word = words.first { throw Reason("unexpected '\(Reason.quoted(word))'; remove it") }
  }
}

extension StringProtocol {
  fileprivate var trimmed: String {
    var text = Substring(self)
    while let first = text.first, first.isWhitespace || first == "\u{FEFF}" { text.removeFirst() }
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return String(text)
  }

  fileprivate var withoutComment: String {
    var text = String(self)
    for mark in ["#", ";", "//"] {
      if let range = text.firstRange(of: mark) { text = String(text[..<range.lowerBound]) }
    }
    return text
  }
}
