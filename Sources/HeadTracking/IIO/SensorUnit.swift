// SPDX-License-Identifier: Apache-2.0

import System

/// The industrial I/O devices of one piece of hardware, such as its gyroscope and accelerometer.
struct SensorUnit: Sendable, Equatable {
  /// The sysfs folders of the devices that have a three-axis sensor.
  var folders: [String]
  var name: String
  /// The polling rate in samples per second, from 25 to 200; 100 if the kernel states no rate.
  var rate: Double
  /// Whether the kernel's driver `hid-sensor-hub` holds the hardware.
  var isHidden: Bool
  var vendorID: UInt16 = 0
  var productID: UInt16 = 0

  /// Returns the units in a folder that have both a gyroscope and an accelerometer.
  static func all(in folder: String) -> [SensorUnit] {
    let entries = (SystemFile.names(in: folder) ?? [])
      .filter { $0.hasPrefix("iio:device") }.sorted()
    var places: [String] = []
    var groups: [String: [String]] = [:]
    for entry in entries {
      let path = "\(folder)/\(entry)"
      let place = hardware(of: path)
      if groups[place] == nil { places.append(place) }
      groups[place, default: []].append(path)
    }
    return places.compactMap { place in unit(groups[place] ?? [], at: place) }
  }

  func triad(_ kind: String) -> SensorTriad? {
    folders.lazy.compactMap { SensorTriad(folder: $0, kind: kind) }.first
  }

  private static func unit(_ all: [String], at place: String) -> SensorUnit? {
    let folders = all.filter { folder in
      ["anglvel", "accel", "magn"].contains { SensorTriad(folder: folder, kind: $0) != nil }
    }
    guard !folders.isEmpty else { return nil }
    let names = folders.compactMap { SensorFile.text($0 + "/name") }
    let rates = folders.compactMap { folder in
      ["in_anglvel_sampling_frequency", "sampling_frequency"].lazy
        .compactMap { SensorFile.number("\(folder)/\($0)") }.first
    }
    let ids = hidNumbers(place)
    let unit = SensorUnit(
      folders: folders, name: names.joined(separator: "+"),
      rate: max(25, min(rates.max() ?? 100, 200)), isHidden: ids != nil,
      vendorID: ids?.vendor ?? 0, productID: ids?.product ?? 0)
    return unit.triad("anglvel") != nil && unit.triad("accel") != nil ? unit : nil
  }

  /// Returns the folder of a device's hardware: the folder above the path's `HID-SENSOR-` component
  /// or, if there is none, the device's parent folder.
  private static func hardware(of path: String) -> String {
    var parts = (SystemFile.resolved(path) ?? path).split(separator: "/").dropLast()
    if let hub = parts.firstIndex(where: { $0.hasPrefix("HID-SENSOR-") }) {
      parts = parts[..<hub]
    }
    return parts.map { "/" + $0 }.joined()
  }

  /// Returns the vendor and product from a folder name such as `0003:8086:0AC2.0001`; nil for other
  /// names.
  private static func hidNumbers(_ place: String) -> (vendor: UInt16, product: UInt16)? {
    let words = place.split(separator: "/").last?.split(whereSeparator: { ":.".contains($0) }) ?? []
    guard words.count == 4, let vendor = UInt16(words[1], radix: 16),
      let product = UInt16(words[2], radix: 16)
    else { return nil }
    return (vendor, product)
  }
}

extension TrackerDescription {
  init(_ unit: SensorUnit) {
    self.init(
      path: unit.folders[0], vendorID: unit.vendorID, productID: unit.productID,
      serial: unit.name.isEmpty ? "" : "iio:\(unit.name)", manufacturer: "", product: unit.name,
      bus: .iio, protocolDescription: unit.isHidden ? "IIO (sensor hub)" : "IIO", kind: .device,
      access: .ready, id: unit.folders[0])
  }
}
