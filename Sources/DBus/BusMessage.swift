// SPDX-License-Identifier: Apache-2.0

import CDBus

/// A value in a D-Bus message.
package enum BusValue: Equatable, Sendable {
  /// A string (`s`). In a variant that was read, it may be an object path (`o`).
  case text(String)
  /// A boolean (`b`).
  case flag(Bool)
  /// An array of strings (`as`).
  case texts([String])
  /// A floating-point number (`d`).
  case number(Double)
  /// A signed 64-bit integer (`x`).
  case integer(Int64)
  /// An empty dictionary (`a{sv}`).
  case nothing
}

/// A D-Bus message, whose values are read or appended one after another.
package final class BusMessage {
  package let pointer: OpaquePointer

  /// Takes over the caller's reference to the message.
  package init(_ pointer: OpaquePointer) { self.pointer = pointer }

  /// Adds a reference to a message.
  package init(retaining pointer: OpaquePointer) {
    self.pointer = pointer
    bus_retain(pointer)
  }

  deinit { bus_release(pointer) }

  // MARK: Reading

  /// Reads a string (`s`), an object path (`o`) or a signature (`g`). Returns nil if the next value
  /// is not of type `type`.
  package func text(_ type: Character = "s") -> String? {
    var value: UnsafePointer<CChar>?
    guard bus_message_read_basic(pointer, Self.code(type), &value) > 0, let value else {
      return nil
    }
    return String(cString: value)
  }

  /// Reads a file descriptor, which still belongs to the message. Returns nil if the next value is
  /// of another type.
  package func descriptor() -> Int32? {
    var value: Int32 = -1
    return bus_message_read_basic(pointer, Self.code("h"), &value) > 0 ? value : nil
  }

  /// Reads an array of bytes (`ay`). Returns nil if the next value is of another type.
  package func bytes() -> [UInt8]? {
    guard enter("a", "y") else { return nil }
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while bus_message_read_basic(pointer, Self.code("y"), &byte) > 0 { bytes.append(byte) }
    leave()
    return bytes
  }

  /// Reads an array of dictionary entries. Has no effect if the next value is of another type.
  ///
  /// - Parameters:
  ///   - contents: the types of the key and the value, such as `sv`.
  ///   - read: called for each entry; must read both the key and the value.
  package func entries(_ contents: String, _ read: () -> Void) {
    guard enter("a", "{\(contents)}") else { return }
    while enter("e", contents) {
      read()
      leave()
    }
    leave()
  }

  /// Reads a variant that holds a string, an object path, a boolean or an array of strings. Skips
  /// any other variant and returns nil.
  package func variant() -> BusValue? {
    var contents: UnsafePointer<CChar>?
    var type: CChar = 0
    guard bus_message_peek_type(pointer, &type, &contents) > 0, let contents else {
      return nil
    }
    let signature = String(cString: contents)
    guard ["s", "o", "b", "as"].contains(signature), enter("v", signature) else {
      _ = bus_message_skip(pointer, "v")
      return nil
    }
    defer { leave() }
    switch signature {
    case "s": return text().map(BusValue.text)
    case "o": return text("o").map(BusValue.text)
    case "b":
      var value: Int32 = 0
      let result = bus_message_read_basic(pointer, Self.code("b"), &value)
      return result > 0 ? .flag(value != 0) : nil
    default:
      var texts: [String] = []
      guard enter("a", "s") else { return nil }
      while let text = text() { texts.append(text) }
      leave()
      return .texts(texts)
    }
  }

  /// Skips the next value, which must be of type `type`.
  package func skip(_ type: String) { _ = bus_message_skip(pointer, type) }

  private func enter(_ type: Character, _ contents: String) -> Bool {
    bus_message_enter_container(pointer, Self.code(type), contents) > 0
  }

  private func leave() { _ = bus_message_exit_container(pointer) }

  // MARK: Appending

  package func append(_ text: String, as type: Character = "s") {
    _ = text.withCString { bus_message_append_basic(pointer, Self.code(type), $0) }
  }

  package func append(_ flag: Bool) {
    var value: Int32 = flag ? 1 : 0
    _ = bus_message_append_basic(pointer, Self.code("b"), &value)
  }

  /// Appends an array of bytes (`ay`).
  package func append(bytes: [UInt8]) {
    container("a", "y") {
      for var byte in bytes { _ = bus_message_append_basic(pointer, Self.code("y"), &byte) }
    }
  }

  package func append(descriptor: Int32) {
    var value = descriptor
    _ = bus_message_append_basic(pointer, Self.code("h"), &value)
  }

  /// Appends a container.
  ///
  /// - Parameters:
  ///   - type: `a` for an array, `e` for a dictionary entry, `v` for a variant.
  ///   - contents: the types of the contents.
  ///   - fill: appends the contents.
  package func container(_ type: Character, _ contents: String, _ fill: () -> Void) {
    _ = bus_message_open_container(pointer, Self.code(type), contents)
    fill()
    _ = bus_message_close_container(pointer)
  }

  /// Appends a dictionary of type `a{sv}`.
  package func append(_ values: [(String, BusValue)]) {
    container("a", "{sv}") {
      for (name, value) in values {
        container("e", "sv") {
          append(name)
          append(value)
        }
      }
    }
  }

  /// Appends a variant.
  package func append(_ value: BusValue) {
    switch value {
    case .text(let text): container("v", "s") { append(text) }
    case .flag(let flag): container("v", "b") { append(flag) }
    case .texts(let texts):
      container("v", "as") { container("a", "s") { for text in texts { append(text) } } }
    case .number(var number):
      container("v", "d") { _ = bus_message_append_basic(pointer, Self.code("d"), &number) }
    case .integer(var number):
      container("v", "x") { _ = bus_message_append_basic(pointer, Self.code("x"), &number) }
    case .nothing: container("v", "a{sv}") { container("a", "{sv}") {} }
    }
  }

  private static func code(_ type: Character) -> CChar {
    CChar(bitPattern: type.asciiValue ?? 0)
  }
}
