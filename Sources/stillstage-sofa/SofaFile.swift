// SPDX-License-Identifier: Apache-2.0

import CMysofa
import Glibc

/// The raw contents of a file as read by libmysofa.
struct SofaFile {
  private let content: UnsafeMutablePointer<MYSOFA_HRTF>

  /// Loads a file from an open descriptor, which replaces stdin, because libmysofa reads stdin for
  /// the file name "-".
  init(descriptor: Int32) throws(Refusal) {
    guard dup2(descriptor, 0) == 0 else {
      throw Refusal(.cannotOpen, String(cString: strerror(errno)))
    }
    var status: Int32 = 0
    guard let loaded = mysofa_load("-", &status) else {
      throw Refusal(.notSofa, Self.reason(status))
    }
    content = loaded
    guard status == 0 else { throw Refusal(.notSofa, Self.reason(status)) }
  }

  private static func reason(_ status: Int32) -> String {
    switch Int(status) {
    case Int(MYSOFA_UNSUPPORTED_FORMAT):
      "it uses an HDF5 feature that libmysofa cannot read, such as 32-bit floats"
    case Int(MYSOFA_NO_MEMORY), Int(ENOMEM):
      "it needs more memory than is available (at most 1 GiB)"
    case Int(MYSOFA_READ_ERROR): "it is truncated or cannot be read"
    case Int(MYSOFA_INVALID_FORMAT): "its HDF5 structure is damaged or is not that of a SOFA file"
    default: "libmysofa reports error \(status)"
    }
  }

  var measurements: Int { Int(content.pointee.M) }
  var receivers: Int { Int(content.pointee.R) }
  var samples: Int { Int(content.pointee.N) }

  var impulseResponses: SofaArray { SofaArray(content.pointee.DataIR) }
  var delays: SofaArray { SofaArray(content.pointee.DataDelay) }
  var samplingRates: SofaArray { SofaArray(content.pointee.DataSamplingRate) }
  var sourcePositions: SofaArray { SofaArray(content.pointee.SourcePosition) }
  var receiverPositions: SofaArray { SofaArray(content.pointee.ReceiverPosition) }
  var listenerPositions: SofaArray { SofaArray(content.pointee.ListenerPosition) }
  var listenerViews: SofaArray { SofaArray(content.pointee.ListenerView) }
  var listenerUps: SofaArray { SofaArray(content.pointee.ListenerUp) }

  /// Returns the text of a global attribute; nil if it is missing.
  func attribute(_ name: String) -> String? { text(content.pointee.attributes, name) }

  /// The unchecked properties of the file, for display.
  var description: [(String, String)] {
    let names = [
      "SOFAConventions", "DataType", "Title", "DatabaseName", "ListenerShortName", "License",
      "Organization",
    ]
    var pairs = names.compactMap { name in attribute(name).map { (name, $0) } }
    pairs.append(("M", "\(measurements)"))
    pairs.append(("R", "\(receivers)"))
    pairs.append(("N", "\(samples)"))
    if samplingRates.count > 0 { pairs.append(("SamplingRate", "\(samplingRates[0])")) }
    return pairs
  }
}

/// A numeric variable of the file, with its attributes.
struct SofaArray {
  private let values: UnsafeMutablePointer<Float>?
  private let attributes: UnsafeMutablePointer<MYSOFA_ATTRIBUTE>?
  let count: Int

  init(_ array: MYSOFA_ARRAY) {
    values = array.values
    attributes = array.attributes
    count = array.values == nil ? 0 : Int(array.elements)
  }

  subscript(index: Int) -> Double { Double(buffer[index]) }

  var buffer: UnsafeBufferPointer<Float> { UnsafeBufferPointer(start: values, count: count) }

  var allFinite: Bool { buffer.allSatisfy(\.isFinite) }

  func attribute(_ name: String) -> String? { text(attributes, name) }
}

private func text(_ list: UnsafeMutablePointer<MYSOFA_ATTRIBUTE>?, _ name: String) -> String? {
  var next = list
  while let attribute = next {
    if let key = attribute.pointee.name, strcmp(key, name) == 0, let value = attribute.pointee.value
    {
      return readableText(UnsafeBufferPointer(start: value, count: strnlen(value, 1000)))
    }
    next = attribute.pointee.next
  }
  return nil
}
