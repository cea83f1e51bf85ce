// SPDX-License-Identifier: Apache-2.0

import CHIDAPI
import Glibc
import Synchronization
import System

/// The functions of a hidapi backend. The libusb backend is loaded at run time, because both
/// backends export the same symbols.
struct HIDBackend: @unchecked Sendable {
  typealias Handle = OpaquePointer
  private typealias Start = @convention(c) () -> Int32
  private typealias Open = @convention(c) (UnsafePointer<CChar>?) -> Handle?
  typealias Close = @convention(c) (Handle?) -> Void
  typealias Read =
    @convention(c) (Handle?, UnsafeMutablePointer<UInt8>?, Int, Int32) -> Int32
  typealias Get = @convention(c) (Handle?, UnsafeMutablePointer<UInt8>?, Int) -> Int32
  typealias Send = @convention(c) (Handle?, UnsafePointer<UInt8>?, Int) -> Int32

  private var start: Start
  private var openPath: Open
  var close: Close
  var read: Read
  var getFeature: Get
  var sendFeature: Send
  var write: Send

  static let hidraw = HIDBackend(
    start: { hid_init() }, openPath: { hid_open_path($0) }, close: { hid_close($0) },
    read: { hid_read_timeout($0, $1, $2, $3) }, getFeature: { hid_get_feature_report($0, $1, $2) },
    sendFeature: { hid_send_feature_report($0, $1, $2) }, write: { hid_write($0, $1, $2) })

  /// The backend that opens USB devices through libusb; nil if its library cannot be used.
  static let libusb: HIDBackend? = {
    // RTLD_DEEPBIND: calls within the library must not reach functions of the hidraw backend.
    let flags = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND
    guard let library = dlopen("libhidapi-libusb.so.0", flags) else { return nil }
    func symbol<Function>(_ name: String, _ type: Function.Type) -> Function? {
      dlsym(library, name).map { unsafeBitCast($0, to: type) }
    }
    guard let start = symbol("hid_init", Start.self),
      let open = symbol("hid_open_path", Open.self), let close = symbol("hid_close", Close.self),
      let read = symbol("hid_read_timeout", Read.self),
      let get = symbol("hid_get_feature_report", Get.self),
      let send = symbol("hid_send_feature_report", Send.self),
      let write = symbol("hid_write", Send.self)
    else { return nil }
    return HIDBackend(
      start: start, openPath: open, close: close, read: read, getFeature: get, sendFeature: send,
      write: write)
  }()

  /// Guards the opening of devices, which changes global state in hidapi.
  private static let lock = Mutex<Void>(())

  /// Opens a hidraw node or a USB interface, such as `1-2:1.3`.
  func open(_ path: String) throws(SystemError) -> Handle {
    if path.hasPrefix("/") {
      // The check can take a long time, so do not hold the lock meanwhile.
      let error = hidraw_check(path)
      guard error == 0 else { throw SystemError(number: error) }
    }
    let opened = Self.lock.withLock { _ -> UInt in
      guard start() == 0, let handle = openPath(path) else { return 0 }
      return UInt(bitPattern: handle)
    }
    guard let handle = Handle(bitPattern: opened) else { throw SystemError(number: EIO) }
    return handle
  }
}
