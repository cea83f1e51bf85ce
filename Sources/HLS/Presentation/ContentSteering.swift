// SPDX-License-Identifier: Apache-2.0

private import FoundationEssentials

/// A steering manifest: the order in which a client tries the pathways (RFC 8216bis, section 7.1).
struct SteeringManifest: Decodable, Equatable {
  var version: Int
  var pathways: [String]

  private enum CodingKeys: String, CodingKey {
    case version = "VERSION"
    case pathways = "PATHWAY-PRIORITY"
  }

  /// Reads a manifest; nil if it is invalid, has a version other than 1 or lists no pathways.
  init?(_ bytes: [UInt8]) {
    guard let read = try? JSONDecoder().decode(Self.self, from: Data(bytes)), read.version == 1,
      !read.pathways.isEmpty
    else { return nil }
    self = read
  }
}

extension PlaylistLoader {
  /// The maximum size of a steering manifest, in bytes.
  private static let largestManifest = 1 << 16
  /// Maximum wait for a manifest, in s; then the presentation is opened without it.
  private static let manifestPatience = 3.0

  /// Fetches a playlist's steering manifest, and returns the playlist with the manifest's
  /// `pathways`. If the manifest cannot be used, adds a note to the playlist instead. Returns the
  /// playlist unchanged if it has no manifest or comes from a folder.
  func steered(
    _ playlist: MultivariantPlaylist, at address: ResourceAddress, _ goesOn: () -> Bool
  ) -> MultivariantPlaylist {
    guard let uri = playlist.steeringServer, folder == nil else { return playlist }
    var steered = playlist
    func ignore(_ reason: String) {
      steered.notes.append("the steering manifest '\(uri)' is ignored: \(reason)")
    }
    do {
      let place = try self.address(of: uri, in: address).asking(for: playlist.firstPathway)
      let resource = try fetcher.fetch(
        FetchRequest(place, limit: Self.largestManifest),
        goesOn: { $0.seconds < Self.manifestPatience && goesOn() })
      if let manifest = SteeringManifest(resource.bytes) {
        steered.pathways = manifest.pathways
      } else {
        ignore("it is not valid, or its version is not 1")
      }
    } catch FetchError.abandoned where goesOn(), FetchError.interrupted where goesOn() {
      ignore("it did not arrive within \(Int(Self.manifestPatience)) s")
    } catch {
      ignore("\(error)")
    }
    return steered
  }
}

extension ResourceAddress {
  /// Returns the address with a query parameter that names the pathway. Returns the address
  /// unchanged if `pathway` is nil or the address refers to a file.
  fileprivate func asking(for pathway: String?) -> ResourceAddress {
    guard case .network(let text) = self, let pathway else { return self }
    let name = pathway.utf8.reduce(into: "") { name, byte in
      let letter = Character(UnicodeScalar(byte))
      let isPlain = letter.isASCII && (letter.isLetter || letter.isNumber || "-._".contains(letter))
      name += isPlain ? String(letter) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return .network(text + (text.contains("?") ? "&" : "?") + "_HLS_pathway=%22\(name)%22")
  }
}
