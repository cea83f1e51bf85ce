// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
package import HeadTracking
import System

/// The content of a tracker profile file [docs/trackers.md].
struct TrackerProfileFile: Decodable {
  struct Signal: Decodable {
    var byte: Int?
    var type: String?
    var usage: String?
    var element: Int?
    var scale: Double?
    var offset: Double?
  }
  struct Clock: Decodable {
    var tick: Double
    var bits: Int?
  }
  struct Start: Decodable {
    var features: [String]?
    var outputs: [String]?
  }

  static let schema = 1

  var schema: Int
  var name: String
  var vendor: String
  var product: String?
  var usage: String?
  var kind: String?
  var report: UInt8?
  var axes: String?
  var signals: [String: Signal]
  var clock: Clock?
  var start: Start?

  /// Why a file is not a valid profile.
  struct Problem: Error {
    var reason: String
    init(_ reason: String) { self.reason = reason }
  }

  static func read(_ path: String) throws(Problem) -> TrackerProfile {
    let file: TrackerProfileFile
    do {
      let data = try Data(contentsOf: URL(filePath: path))
      file = try JSONDecoder().decode(TrackerProfileFile.self, from: data)
    } catch let error as DecodingError {
      throw Problem(text(error))
    } catch { throw Problem("it cannot be read") }
    return try file.profile()
  }

  private static func text(_ error: DecodingError) -> String {
    switch error {
    case .keyNotFound(let key, _): "'\(key.stringValue)' is missing"
    case .typeMismatch(_, let place), .valueNotFound(_, let place):
      "'\(place.codingPath.map(\.stringValue).joined(separator: "."))' has the wrong type"
    default: "it is not valid JSON, or one of its numbers is out of range or should be whole"
    }
  }

  private func profile() throws(Problem) -> TrackerProfile {
    guard schema == Self.schema else {
      throw Problem("it has schema \(schema), but this program reads schema \(Self.schema)")
    }
    guard let vendor = UInt16(vendor, radix: 16) else {
      throw Problem("'vendor' must be a hexadecimal number from 0 to ffff without 0x")
    }
    guard let kind = TrackerKind(rawValue: kind ?? "head") else {
      throw Problem("'kind' must be one of head, controller, device")
    }
    var profile = TrackerProfile(
      name: name, vendorID: vendor, productID: try product.map(Self.hex), reportID: report,
      kind: kind, signals: try numbers())
    profile.usage = try usage.map(Self.usage)
    if let axes {
      do throws(HeadTrackingError) { profile.axes = try AxisMap(axes) } catch {
        throw Problem(error.description)
      }
    }
    profile.tickSeconds = clock?.tick ?? profile.tickSeconds
    profile.clockBits = clock?.bits ?? profile.clockBits
    profile.startFeatures = try Self.reports(start?.features)
    profile.startOutputs = try Self.reports(start?.outputs)
    if let problem = profile.problem { throw Problem(problem) }
    return profile
  }

  private func numbers() throws(Problem) -> [TrackerProfile.Signal: TrackerProfile.Number] {
    var numbers: [TrackerProfile.Signal: TrackerProfile.Number] = [:]
    for (name, signal) in signals {
      guard let key = TrackerProfile.Signal(rawValue: name) else {
        throw Problem("the signal '\(name)' is unknown")
      }
      let place: TrackerProfile.Place
      if let usage = signal.usage {
        place = .usage(try Self.usage(usage), element: signal.element ?? 0)
      } else if let byte = signal.byte,
        let type = signal.type.flatMap(TrackerProfile.NumberType.init)
      {
        place = .byte(byte, type)
      } else {
        throw Problem("the signal '\(name)' needs 'usage', or 'byte' and a known 'type'")
      }
      numbers[key] = TrackerProfile.Number(
        place, scale: signal.scale ?? 1, offset: signal.offset ?? 0)
    }
    return numbers
  }

  private static func hex(_ text: String) throws(Problem) -> UInt16 {
    guard let number = UInt16(text, radix: 16) else {
      throw Problem("'\(text)' is not a hexadecimal number from 0 to ffff without 0x")
    }
    return number
  }

  /// Parses a HID usage, `PAGE:USAGE` in hexadecimal.
  private static func usage(_ text: String) throws(Problem) -> HIDUsage {
    let parts = text.split(separator: ":").map(String.init)
    guard parts.count == 2 else { throw Problem("'\(text)' is not a usage such as 0001:0032") }
    return HIDUsage(page: try hex(parts[0]), usage: try hex(parts[1]))
  }

  private static func reports(_ texts: [String]?) throws(Problem) -> [[UInt8]] {
    var reports: [[UInt8]] = []
    for text in texts ?? [] {
      let bytes = text.split(separator: " ").map { UInt8($0, radix: 16) }
      let known = bytes.compactMap(\.self)
      guard known.count == bytes.count, !known.isEmpty, known.count <= 4096 else {
        throw Problem("'\(text)' is not a report of 1 to 4096 hexadecimal bytes, such as 09 01")
      }
      reports.append(known)
    }
    return reports
  }
}

/// Reads the profiles in a folder, in the order of their file names. Skips invalid profiles.
///
/// - Parameter note: called with one sentence for each invalid profile.
package func trackerProfiles(
  in folder: String, note: (String) -> Void = { _ in }
) -> [TrackerProfile] {
  var profiles: [TrackerProfile] = []
  for name in SystemFile.names(in: folder)?.sorted() ?? [] where name.hasSuffix(".json") {
    do throws(TrackerProfileFile.Problem) {
      profiles.append(try TrackerProfileFile.read("\(folder)/\(name)"))
    } catch {
      note("the tracker profile \(folder)/\(name) is not used: \(error.reason)")
    }
  }
  return profiles
}
