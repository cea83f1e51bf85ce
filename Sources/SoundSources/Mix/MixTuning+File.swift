// SPDX-License-Identifier: Apache-2.0

public import AudioMix
private import FoundationEssentials
private import Media
public import Rendering
private import SignalProcessing
private import System

extension MixTuning {
  /// Reads a tuning from a JSON file.
  ///
  /// - Throws: `PlaybackError.mixTuning` if the file cannot be read or is not a valid tuning.
  public init(path: String) throws(PlaybackError) {
    let bytes: [UInt8]
    do { bytes = try SystemFile.contents(path, limit: 1 << 20) } catch {
      throw .mixTuning(path: path, reason: "\(error)")
    }
    do throws(Problem) { try self.init(json: bytes) } catch {
      throw .mixTuning(path: path, reason: error.reason)
    }
  }

  /// Reads the last tuning in the timed metadata and attachments of a media file; nil if there is
  /// none, or if the file cannot be read.
  ///
  /// - Throws: `PlaybackError.mixTuning` if this tuning is invalid.
  public static func embedded(in path: String) throws(PlaybackError) -> MixTuning? {
    for text in EmbeddedText.read(path).reversed() {
      guard let content = try? JSONDecoder().decode(Marker.self, from: Data(text)),
        content.version != nil
      else { continue }
      do throws(Problem) { return try MixTuning(json: text) } catch {
        throw .mixTuning(path: path, reason: error.reason)
      }
    }
    return nil
  }

  struct Problem: Error { let reason: String }

  init(json: [UInt8]) throws(Problem) {
    let content: Content
    do { content = try JSONDecoder().decode(Content.self, from: Data(json)) } catch {
      throw Problem(reason: "it is not a mix tuning in JSON")
    }
    guard content.version == Self.version else {
      throw Problem(reason: "its version is \(content.version), but only version 1 is supported")
    }
    self.init(
      speech: try content.speech?.part(named: "speech") ?? Part(),
      ambience: try content.ambience?.part(named: "ambience") ?? Part())
  }

  /// The member that distinguishes a tuning from other metadata.
  private struct Marker: Decodable { var version: Int? }

  private struct Content: Decodable {
    var version: Int
    var speech: PartContent?
    var ambience: PartContent?
  }

  private struct PartContent: Decodable {
    var gainDecibels: Double?
    var equaliser: [Filter]?

    private enum CodingKeys: String, CodingKey {
      case gainDecibels = "gain_db"
      case equaliser = "eq"
    }

    func part(named name: String) throws(Problem) -> Part {
      let (gain, filters) = (gainDecibels ?? 0, equaliser ?? [])
      guard MixTuning.gainRange.contains(gain) else {
        throw Problem(reason: "'\(name).gain_db' must be from -60 to 60")
      }
      guard filters.count <= MixTuning.filterLimit else {
        throw Problem(reason: "'\(name).eq' has more than \(MixTuning.filterLimit) filters")
      }
      var equaliser: [ParametricFilter] = []
      for (index, filter) in filters.enumerated() {
        guard let kind = ParametricFilter.Kind(rawValue: filter.type) else {
          throw Problem(reason: "'\(name).eq.\(index).type' is unknown")
        }
        let (gain, quality) = (filter.gainDecibels ?? 0, filter.quality ?? 0.707)
        guard MixTuning.gainRange.contains(gain), MixTuning.qualityRange.contains(quality),
          MixTuning.frequencyRange.contains(filter.frequency)
        else {
          throw Problem(
            reason: "in '\(name).eq.\(index)', 'frequency' must be from 1 to 200000, 'gain_db' "
              + "from -60 to 60 and 'q' from 0.01 to 100")
        }
        equaliser.append(
          ParametricFilter(kind, frequency: filter.frequency, gain: gain, quality: quality))
      }
      return Part(gainDecibels: gain, equaliser: equaliser)
    }
  }

  private struct Filter: Decodable {
    var type: String
    var frequency: Double
    var gainDecibels: Double?
    var quality: Double?

    private enum CodingKeys: String, CodingKey {
      case type, frequency
      case gainDecibels = "gain_db"
      case quality = "q"
    }
  }
}
