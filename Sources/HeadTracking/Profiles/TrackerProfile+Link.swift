// SPDX-License-Identifier: Apache-2.0

extension TrackerProfile {
  /// How a tracker is connected.
  public enum Link: Sendable, Equatable {
    case hid
    case midi(MIDIPort)
    case serial(SerialPort)
    case ble(BluetoothService)
    case tcp(NetworkPlace)
    case udp(NetworkPlace)

    /// The value of the key `link` in a profile's file.
    public var name: String {
      switch self {
      case .hid: "hid"
      case .midi: "midi"
      case .serial: "serial"
      case .ble: "ble"
      case .tcp: "tcp"
      case .udp: "udp"
      }
    }

    public static let names = ["hid", "midi", "serial", "ble", "tcp", "udp"]
  }

  public struct MIDIPort: Sendable, Equatable {
    /// The beginning of the name of the port or of its device.
    public var name: String

    public init(name: String) { self.name = name }
  }

  public struct SerialPort: Sendable, Equatable {
    /// Bits per second.
    public var baud: Int
    /// Whether the DTR line is set while the port is open. Setting it resets some boards. Other
    /// boards send only while it is set.
    public var setsDTR: Bool

    public init(baud: Int = 115_200, setsDTR: Bool = true) {
      self.baud = baud
      self.setsDTR = setsDTR
    }

    public static let bauds = [
      1200, 2400, 4800, 9600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 500_000, 576_000,
      921_600, 1_000_000, 1_500_000, 2_000_000, 3_000_000, 4_000_000,
    ]
  }

  /// How a Bluetooth LE tracker is recognised, and its characteristics. UUIDs are in lower case.
  public struct BluetoothService: Sendable, Equatable {
    /// The beginning of the device's name; nil for any.
    public var name: String?
    /// The beginning of the UUID of a service that the device offers; nil for any.
    public var service: String?
    /// The beginning of the UUID of the characteristic that notifies.
    public var notify: String
    /// The beginning of the UUID of the characteristic for commands; nil if there is none.
    public var write: String?
    /// Whether the device acknowledges commands.
    public var isAcknowledged: Bool

    public init(
      name: String? = nil, service: String? = nil, notify: String, write: String? = nil,
      isAcknowledged: Bool = true
    ) {
      (self.name, self.service, self.notify) = (name, service, notify)
      (self.write, self.isAcknowledged) = (write, isAcknowledged)
    }
  }

  /// An address and a port. For TCP, they are those of the device. For UDP, this computer listens
  /// on them.
  public struct NetworkPlace: Sendable, Equatable {
    /// For TCP, an IPv4 address or an IPv6 address without brackets. For UDP, an IPv4 address, an
    /// IPv6 address in brackets, `any` or `loopback`.
    public var address: String
    public var port: Int

    public init(address: String, port: Int) {
      self.address = address
      self.port = port
    }
  }

  /// How frames are recognised in the data from a link.
  public enum Framing: Sendable, Equatable {
    /// Each report, message, notification or datagram is a frame.
    case message
    case binary(BinaryFraming)
    /// Text between separators.
    case text(separator: UInt8)
    /// MIDI controllers. A frame ends when none of its controllers has followed for this many
    /// milliseconds, or when one of its numbers arrives again.
    case controllers(gapMilliseconds: Double)
  }

  /// Frames of constant length in a stream of bytes.
  public struct BinaryFraming: Sendable, Equatable {
    public enum Checksum: String, Sendable, CaseIterable {
      case none, sum8, xor8
      /// CRC-16/XMODEM, the more significant byte first.
      case crc16XMODEM = "crc16-xmodem"

      /// Size in bytes.
      public var size: Int {
        switch self {
        case .none: 0
        case .sum8, .xor8: 1
        case .crc16XMODEM: 2
        }
      }
    }

    /// The bytes at the beginning of each frame.
    public var sync: [UInt8]
    /// The length of a frame in bytes, including sync, checksum and tail.
    public var length: Int
    public var checksum: Checksum
    /// The offsets of the bytes that the checksum covers.
    public var covered: Range<Int>
    /// The offset of the first byte of the checksum.
    public var checksumOffset: Int
    /// The bytes at the end of each frame; empty for none.
    public var tail: [UInt8]

    /// By default, the checksum covers all bytes that precede it. It is just before the tail or, if
    /// there is no tail, at the end of the frame.
    public init(
      sync: [UInt8], length: Int, checksum: Checksum = .none, covered: Range<Int>? = nil,
      checksumOffset: Int? = nil, tail: [UInt8] = []
    ) {
      self.sync = sync
      self.length = length
      self.checksum = checksum
      self.tail = tail
      let offset = checksumOffset ?? length - tail.count - checksum.size
      self.checksumOffset = offset
      self.covered = covered ?? 0..<max(0, offset)
    }

    /// Returns whether a frame has the right length, sync, tail and checksum.
    package func accepts(_ frame: [UInt8]) -> Bool {
      guard frame.count == length, frame.starts(with: sync), frame.suffix(tail.count) == tail[...]
      else { return false }
      let bytes = frame[covered]
      switch checksum {
      case .none: return true
      case .sum8: return bytes.reduce(0, &+) == frame[checksumOffset]
      case .xor8: return bytes.reduce(0, ^) == frame[checksumOffset]
      case .crc16XMODEM:
        let value = UInt16(frame[checksumOffset]) << 8 | UInt16(frame[checksumOffset + 1])
        return CRC16XMODEM.of(bytes) == value
      }
    }
  }
}

extension TrackerProfile {
  /// Returns a profile for recording the bytes of an unknown serial device; it decodes nothing.
  package static func undecoded(baud: Int) -> TrackerProfile {
    var profile = TrackerProfile(name: "unknown")
    profile.link = .serial(SerialPort(baud: baud))
    profile.framing = .binary(BinaryFraming(sync: [0], length: longestFrame))
    profile.frames = []
    return profile
  }
}
