// SPDX-License-Identifier: Apache-2.0

/// The kept renditions to list, and their multivariant playlist.
struct KeptPlaylists {
  /// A rendition with at least one kept segment.
  struct Row {
    var folder: String
    var rendition: KeptRendition
    var bitRates: (peak: Double, mean: Double)

    fileprivate var codecs: String { rendition.codecs.joined(separator: ",") }
  }

  let rows: [Row]

  /// The multivariant playlist, with one variant for each of the `groups`. The variant refers to
  /// the playlist of the group's default rendition or, if there is none, of its first rendition.
  var multivariant: MultivariantPlaylist {
    var playlist = MultivariantPlaylist()
    playlist.version = 6
    for group in groups {
      let variantRow = group.first { $0.rendition.isDefault } ?? group[0]
      var names: Set<String> = []
      for row in group {
        var entry = row.entry(group: group[0].folder)
        entry.isDefault = row.folder == variantRow.folder
        entry.isAutoselected = entry.isAutoselected || entry.isDefault
        // Names must be unique within a group.
        if !names.insert(entry.name).inserted { entry.name += " (\(row.folder))" }
        playlist.renditions.append(entry)
      }
      playlist.variants.append(variant(variantRow, of: group))
    }
    return playlist
  }

  /// The rows, grouped by audio group and codecs. A row without an audio group is a group of its
  /// own.
  private var groups: [[Row]] {
    var groups: [[Row]] = []
    for row in rows {
      let place = groups.firstIndex { group in
        let first = group[0]
        return first.rendition.group != nil && first.rendition.group == row.rendition.group
          && first.codecs == row.codecs
      }
      if let place { groups[place].append(row) } else { groups.append([row]) }
    }
    return groups
  }

  private func variant(_ row: Row, of group: [Row]) -> Variant {
    func whole(_ rate: Double) -> Int { Int(min(max(rate, 1), 1e12).rounded(.up)) }
    var variant = Variant(
      uri: row.folder + "/" + PresentationKeeper.playlistName,
      bandwidth: whole(group.map(\.bitRates.peak).max() ?? 0))
    variant.averageBandwidth = whole(group.map(\.bitRates.mean).max() ?? 0)
    variant.codecs = row.rendition.codecs.map(\.forAttribute).filter { !$0.isEmpty }
    variant.audioGroup = group[0].folder
    variant.score = row.rendition.score.flatMap { (0...1e9).contains($0) ? $0 : nil }
    let size = row.rendition.resolution
    if size.count == 2, size.allSatisfy({ (1...100_000).contains($0) }) {
      variant.resolution = .init(width: size[0], height: size[1])
    }
    return variant
  }
}

extension KeptPlaylists.Row {
  fileprivate func entry(group: String) -> RenditionEntry {
    var name = rendition.name.forAttribute
    if name.isEmpty { name = folder }
    var entry = RenditionEntry(
      group: group, name: name, uri: folder + "/" + PresentationKeeper.playlistName)
    entry.language = rendition.language.map(\.forAttribute).flatMap { $0.isEmpty ? nil : $0 }
    entry.isAutoselected = rendition.isAutoselected
    entry.channels = rendition.channels.map { channels in
      AudioChannels(
        count: channels.count, codings: channels.codings.map(\.forAttribute),
        usages: channels.usages.map(\.forAttribute))
    }
    entry.characteristics = rendition.characteristics.map(\.forAttribute)
    return entry
  }
}

extension String {
  /// The first 200 Unicode scalars of the text that are not `"`, `{` or ASCII control characters.
  fileprivate var forAttribute: String {
    let plain = unicodeScalars.filter { scalar in
      scalar != "\"" && scalar != "{" && scalar.value >= 0x20 && scalar.value != 0x7F
    }
    return String(String.UnicodeScalarView(plain.prefix(200)))
  }
}
