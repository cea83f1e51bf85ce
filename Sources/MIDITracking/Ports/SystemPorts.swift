// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

/// The MIDI ports of this computer.
///
/// The list of ports is read from files of the kernel. libasound is loaded only when a port of the
/// sequencer is opened. If the port cannot be opened, for example because libasound is missing, the
/// raw MIDI device of the same card, if any, is opened instead.
struct SystemPorts: MIDIPorts {
  var processFolder = "/proc/asound"
  var soundFolder = "/sys/class/sound"
  var deviceFolder = "/dev/snd"

  /// How many port numbers a card's sequencer client reserves for each raw MIDI device.
  private static let portsPerDevice = 32

  // MARK: List

  func ports() -> [MIDIPort] {
    let clients = text("\(processFolder)/seq/clients")
    let ports = clients.isEmpty ? rawPorts() : SequencerClients.ports(clients)
    return ports.map { port in
      var port = port
      port.usb = port.card.flatMap(usb)
      return port
    }
  }

  /// Lists the raw MIDI devices, for a kernel whose sequencer is missing or not loaded.
  private func rawPorts() -> [MIDIPort] {
    let names = SystemFile.names(in: soundFolder) ?? []
    return names.filter { $0.hasPrefix("midiC") }.sorted().compactMap { name in
      let numbers = name.dropFirst(5).split(separator: "D").compactMap { Int($0) }
      guard numbers.count == 2 else { return nil }
      // The first line is the name of the device.
      let file = "\(processFolder)/card\(numbers[0])/midi\(numbers[1])"
      let lines = text(file).split(separator: "\n")
      return MIDIPort(
        client: cardName(numbers[0]), name: lines.first.map(String.init) ?? "",
        place: .raw(path: "\(deviceFolder)/\(name)"), card: numbers[0])
    }
  }

  private func cardName(_ card: Int) -> String {
    let product = usbFolder(card).map { text("\($0)/product") } ?? ""
    return product.isEmpty ? text("\(soundFolder)/card\(card)/id") : product
  }

  private func usb(_ card: Int) -> USBIdentity? {
    guard let folder = usbFolder(card),
      let vendor = UInt16(text("\(folder)/idVendor"), radix: 16),
      let product = UInt16(text("\(folder)/idProduct"), radix: 16)
    else { return nil }
    return USBIdentity(vendorID: vendor, productID: product, serial: text("\(folder)/serial"))
  }

  /// Returns the folder of a card's USB device; nil if the card's folder has no link `device`. The
  /// link leads to a USB interface, whose parent is the device. For a card on another bus, the
  /// returned folder lacks the files of a USB device.
  private func usbFolder(_ card: Int) -> String? {
    guard let interface = SystemFile.resolved("\(soundFolder)/card\(card)/device") else {
      return nil
    }
    return interface.split(separator: "/").dropLast().map { "/" + $0 }.joined()
  }

  /// Returns the printable characters and line ends in the first 256 KiB of a file, without a final
  /// line end; empty if the file cannot be read.
  private func text(_ file: String) -> String {
    let bytes = (try? SystemFile.contents(file, limit: 1 << 18)) ?? []
    let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars.filter {
      $0 == "\n" || $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
    }
    return scalars.last == "\n"
      ? String(String.UnicodeScalarView(scalars.dropLast()))
      : String(String.UnicodeScalarView(scalars))
  }

  // MARK: Open

  func obstacle(_ port: MIDIPort) -> String? {
    let path =
      switch port.place {
      case .sequencer: "\(deviceFolder)/seq"
      case .raw(let path): path
      }
    guard access(path, R_OK | W_OK) != 0 else { return nil }
    return errno == EACCES || errno == EPERM ? RawMIDILink.noPermission(path) : nil
  }

  func open(_ port: MIDIPort) throws(MIDIError) -> any MIDILink {
    guard case .sequencer(let client, let number) = port.place else {
      return try RawMIDILink(port.path)
    }
    do throws(MIDIError) {
      return try SequencerLink(client: client, port: number)
    } catch {
      guard let card = port.card else { throw error }
      let path = "\(deviceFolder)/midiC\(card)D\(number / Self.portsPerDevice)"
      guard access(path, F_OK) == 0 else { throw error }
      do throws(MIDIError) { return try RawMIDILink(path) } catch let second {
        throw MIDIError(reason: "\(error.reason); \(second.reason)")
      }
    }
  }
}
