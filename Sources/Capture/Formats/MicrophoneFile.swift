// SPDX-License-Identifier: Apache-2.0

private import FoundationEssentials
private import Glibc
private import System

/// The reason why a file that describes a microphone cannot be used.
public struct MicrophoneFileError: Error, Sendable, Equatable, CustomStringConvertible {
  public let path: String
  public let reason: String

  /// Returns the error for a file that does not describe a tetrahedral microphone.
  public static func notTetrahedral(_ path: String) -> MicrophoneFileError {
    MicrophoneFileError(
      path: path,
      reason: "it does not describe a tetrahedral microphone; choose the microphone format that "
        + "it states")
  }

  public var description: String { "\(path): \(reason)" }
}

/// A description of a microphone in the format of `Calibration/microphone.schema.json`.
public struct MicrophoneFile: Sendable, Equatable {
  public let name: String
  public let format: MicrophoneFormat

  private struct Content: Decodable {
    let schema: Int
    let name: String
    let format: String
    let capsules: [String]?
    let radius: Double?
    let omnidirectionalPart: Double?
    let gains: [Double]?
  }

  /// Reads a file of at most 1 MiB.
  ///
  /// - Throws: `MicrophoneFileError` if the file cannot be read or is not valid.
  public init(path: String) throws(MicrophoneFileError) {
    func failure(_ reason: String) -> MicrophoneFileError {
      MicrophoneFileError(path: path, reason: reason)
    }
    let bytes: [UInt8]
    do throws(SystemError) { bytes = try SystemFile.contents(path, limit: 1 << 20) } catch {
      throw failure("\(error); check the path")
    }
    let content: Content
    do { content = try JSONDecoder().decode(Content.self, from: Data(bytes)) } catch {
      throw failure(
        "it is not a valid description of a microphone; check it against microphone.schema.json")
    }
    guard content.schema == 1 else {
      throw failure(
        "it has schema \(content.schema), but this program reads only schema 1; use another file")
    }
    name = content.name
    switch content.format {
    case "mono": format = .mono
    case "stereo": format = .stereo
    case "ambix": format = .ambiX
    case "fuma": format = .fuMa
    case "a-format":
      let names = content.capsules ?? Capsule.usualOrder.map(\.rawValue)
      let capsules = names.compactMap { Capsule(rawValue: $0) }
      guard capsules.count == names.count, Capsule.areTetrahedron(capsules) else {
        throw failure(
          "'capsules' must name the corners of a regular tetrahedron, such as flu, frd, bld, bru")
      }
      var microphone = TetrahedralMicrophone(capsules: capsules)
      if let radius = content.radius { microphone.radius = radius / 1000 }
      if let part = content.omnidirectionalPart { microphone.omnidirectionalPart = part }
      if let gains = content.gains { microphone.gains = gains.map { amplitude($0) } }
      guard (0.001...0.1).contains(microphone.radius),
        (0.05...0.95).contains(microphone.omnidirectionalPart), microphone.gains.count == 4,
        microphone.gains.allSatisfy({ (0.01...100).contains($0) })
      else {
        throw failure(
          "'radius' must be 1 to 100 mm, 'omnidirectionalPart' 0.05 to 0.95, and 'gains' four "
            + "numbers from -40 to 40 dB")
      }
      format = .aFormat(microphone)
    default:
      throw failure("'format' must be one of mono, stereo, ambix, fuma, a-format")
    }
  }
}

private func amplitude(_ decibels: Double) -> Double { pow(10, decibels / 20) }
