// SPDX-License-Identifier: Apache-2.0

/// Reads the members of a JSON object and collects the problems with them.
///
/// A missing key gives nil or an empty list. So does an unsuitable value, which also adds a
/// problem. An unsuitable item of a list is left out and adds a problem.
struct ProfileKeys {
  /// The collected problems, shared by all objects of a text.
  final class Problems {
    var all: [ProfileProblem] = []

    func add(_ text: String, line: Int, isHarmless: Bool = false) {
      // Limit the output for a damaged file. Harmless problems must not displace serious ones.
      guard all.count < (isHarmless ? 100 : 200) else { return }
      all.append(ProfileProblem(line: line, text: text, isHarmless: isHarmless))
    }
  }

  let members: [LocatedJSON.Member]
  /// The line of the object.
  let line: Int
  let problems: Problems

  /// Adds a problem and returns nil if the value is not an object. Also adds a problem for each
  /// repeated key and, unless `known` is empty, for each key that is not in `known`.
  init?(_ json: LocatedJSON, _ name: String, known: [String], _ problems: Problems) {
    guard case .object(let members) = json.value else {
      problems.add("'\(name)' must be an object in braces", line: json.line)
      return nil
    }
    (self.members, line, self.problems) = (members, json.line, problems)
    for (index, member) in members.enumerated() {
      if members[..<index].contains(where: { $0.name == member.name }) {
        problems.add("the key '\(member.name)' occurs twice", line: member.line)
      } else if !known.isEmpty, !known.contains(member.name) {
        problems.add(
          "the key '\(member.name)' is unknown here; valid keys: \(known.joined(separator: ", "))",
          line: member.line, isHarmless: true)
      }
    }
  }

  subscript(_ name: String) -> LocatedJSON? {
    members.first { $0.name == name }?.value
  }

  func line(of name: String) -> Int {
    members.first { $0.name == name }?.line ?? line
  }

  /// Returns the value that `read` returns for a key. If the key is missing, adds a problem and
  /// returns nil.
  func required<Value>(_ name: String, _ read: (String) -> Value?) -> Value? {
    guard self[name] != nil else {
      problems.add("'\(name)' is missing", line: line)
      return nil
    }
    return read(name)
  }

  func text(_ name: String) -> String? {
    guard let json = self[name] else { return nil }
    if case .string(let text) = json.value { return text }
    problems.add("'\(name)' must be a string", line: json.line)
    return nil
  }

  func number(_ name: String) -> Double? {
    guard let json = self[name] else { return nil }
    if case .number(let number) = json.value { return number }
    problems.add("'\(name)' must be a number", line: json.line)
    return nil
  }

  func whole(_ name: String, _ range: ClosedRange<Int>) -> Int? {
    guard let number = number(name) else { return nil }
    if let whole = Int(exactly: number), range.contains(whole) { return whole }
    problems.add(
      "'\(name)' must be a whole number from \(range.lowerBound) to \(range.upperBound)",
      line: line(of: name))
    return nil
  }

  func flag(_ name: String) -> Bool? {
    guard let json = self[name] else { return nil }
    if case .bool(let flag) = json.value { return flag }
    problems.add("'\(name)' must be true or false", line: json.line)
    return nil
  }

  /// Returns a string if it is one of `words`.
  func word(_ name: String, _ words: [String]) -> String? {
    guard let text = text(name) else { return nil }
    if words.contains(text) { return text }
    problems.add("'\(name)' must be one of \(words.joined(separator: ", "))", line: line(of: name))
    return nil
  }

  /// Returns a hexadecimal number of at most 16 bits.
  func hex(_ name: String) -> UInt16? {
    guard let text = text(name) else { return nil }
    if let number = UInt16(text, radix: 16) { return number }
    problems.add(
      "'\(name)' must be a hexadecimal number from 0 to ffff without 0x", line: line(of: name))
    return nil
  }

  /// Returns the bytes of a hexadecimal string such as `FF AA 03`.
  func bytes(_ name: String) -> [UInt8]? {
    guard let json = self[name] else { return nil }
    return bytes(json, name)
  }

  /// Returns the bytes of each valid hexadecimal string in a list.
  func packets(_ name: String) -> [[UInt8]] {
    list(name).compactMap { bytes($0, name) }
  }

  /// Returns the UTF-8 bytes of each nonempty string in a list.
  func texts(_ name: String) -> [[UInt8]] {
    list(name).compactMap { item in
      if case .string(let text) = item.value, !text.isEmpty { return Array(text.utf8) }
      problems.add("'\(name)' must be a list of strings that are not empty", line: item.line)
      return nil
    }
  }

  func list(_ name: String) -> [LocatedJSON] {
    guard let json = self[name] else { return [] }
    if case .array(let items) = json.value { return items }
    problems.add("'\(name)' must be a list in brackets", line: json.line)
    return []
  }

  private func bytes(_ json: LocatedJSON, _ name: String) -> [UInt8]? {
    if case .string(let text) = json.value {
      let words = text.split(separator: " ").map { $0.utf8.count <= 2 ? UInt8($0, radix: 16) : nil }
      let known = words.compactMap(\.self)
      if known.count == words.count, !known.isEmpty, known.count <= 4096 { return known }
    }
    problems.add(
      "'\(name)' must have 1 to 4096 hexadecimal bytes, such as \"09 01\"", line: json.line)
    return nil
  }
}
