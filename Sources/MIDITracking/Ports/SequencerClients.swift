// SPDX-License-Identifier: Apache-2.0

/// The sequencer's clients and ports, as the kernel lists them in /proc/asound/seq/clients.
///
/// A client is a line such as `Client  20 : "Head Tracker" [Kernel Legacy]`, and a port is a line
/// such as `  Port   0 : "Head Tracker MIDI 1" (RWeX) [In/Out]`. `R` means that other clients may
/// subscribe to what the port sends.
enum SequencerClients {
  /// The client numbers of sound cards: the first, the count per card, and the end (exclusive).
  private static let cardClients = (first: 16, each: 4, end: 128)

  /// Returns the ports to which a program may subscribe.
  static func ports(_ text: String) -> [MIDIPort] {
    var ports: [MIDIPort] = []
    var client: (number: Int, name: String, card: Int?)?
    for line in text.split(separator: "\n") {
      guard let entry = Entry(line) else { continue }
      if entry.word == "Client" {
        client = (entry.number, entry.name, card(entry))
      } else if let client, entry.word == "Port", entry.rest.hasPrefix(" (R") {
        ports.append(
          MIDIPort(
            client: client.name, name: entry.name,
            place: .sequencer(client: client.number, port: entry.number), card: client.card))
      }
    }
    return ports
  }

  private static func card(_ entry: Entry) -> Int? {
    let isCard = entry.number >= cardClients.first && entry.number < cardClients.end
    guard isCard, entry.rest.hasPrefix(" [Kernel") else { return nil }
    return (entry.number - cardClients.first) / cardClients.each
  }

  /// A line with a word, a number, a colon and a name in quotes.
  private struct Entry {
    let word: Substring
    let number: Int
    let name: String
    let rest: Substring

    init?(_ line: Substring) {
      guard let open = line.firstIndex(of: "\""), let close = line.lastIndex(of: "\""),
        open < close
      else { return nil }
      let words = line[..<open].split(separator: " ")
      guard words.count == 3, words[2] == ":", let number = Int(words[1]) else { return nil }
      (word, self.number) = (words[0], number)
      name = String(line[line.index(after: open)..<close])
      rest = line[line.index(after: close)...]
    }
  }
}
