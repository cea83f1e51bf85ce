// SPDX-License-Identifier: Apache-2.0

private import Glibc
public import System

/// Seeds of `make fuzz`, and their mutations.
///
/// The first byte of a seed is its target: the code that reads it.
public struct FuzzCorpus: Sendable {
  public struct Missing: Error {
    public let folder: String
  }

  /// The seeds of the target.
  public let inputs: [[UInt8]]
  private let target: UInt8
  private let marks: [UInt8]

  /// The number of mutations of each target that `STILLSTAGE_FUZZ_INPUTS` asks for; nil if it does
  /// not.
  public static let requestedCount = getenv("STILLSTAGE_FUZZ_INPUTS").flatMap {
    Int(String(cString: $0))
  }

  /// Reads the seeds of a target.
  ///
  /// - Parameters:
  ///   - name: the folder in Tests/Fuzz.
  ///   - target: the first byte of the seeds.
  ///   - marks: bytes with a meaning for the target, which mutations use more often than others.
  /// - Throws: if there is no such folder, or if a seed cannot be read.
  public init(_ name: String, target: UInt8, marks: [UInt8]) throws {
    let folder =
      #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined() + "/Fuzz/\(name)"
    guard let names = SystemFile.names(in: folder) else { throw Missing(folder: folder) }
    inputs = try names.filter { !$0.hasPrefix(".") }.sorted().map {
      try SystemFile.contents("\(folder)/\($0)", limit: 1 << 16)
    }.filter { $0.first == target }
    (self.target, self.marks) = (target, [0, 0x7F, 0x80, 0xFF] + marks)
  }

  /// Returns a seed with one to eight changes, for the same target.
  public func mutated(_ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = inputs.randomElement(using: &generator) ?? []
    for _ in 0..<Int.random(in: 1...8, using: &generator) where bytes.count > 1 {
      let at = Int.random(in: 1..<bytes.count, using: &generator)
      switch UInt8.random(in: 0...5, using: &generator) {
      case 0: bytes[at] ^= 1 << UInt8.random(in: 0...7, using: &generator)
      case 1: bytes[at] = marks.randomElement(using: &generator) ?? 0
      case 2: bytes.remove(at: at)
      case 3: bytes.insert(.random(in: 0...255, using: &generator), at: at)
      case 4:
        let from = Int.random(in: 1..<bytes.count, using: &generator)
        bytes.insert(contentsOf: bytes[min(at, from)..<max(at, from)].prefix(40), at: at)
      default: bytes.removeLast(min(bytes.count - 1, Int.random(in: 0...16, using: &generator)))
      }
    }
    return bytes
  }
}
