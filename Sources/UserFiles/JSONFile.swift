// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Decodes JSON and reports errors in words.
package enum JSONFile {
  package static func decode<Value: Decodable>(
    _ type: Value.Type, _ bytes: [UInt8], path: String
  ) throws(UserFileError) -> Value {
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch let error as DecodingError {
      throw UserFileError(path: path, reason: reason(error, bytes))
    } catch {
      throw UserFileError(path: path, reason: invalid(bytes))
    }
  }

  private static func reason(_ error: DecodingError, _ bytes: [UInt8]) -> String {
    switch error {
    case .keyNotFound(let key, let context):
      "'\(name(context.codingPath + [key]))' is missing"
    case .valueNotFound(_, let context), .typeMismatch(_, let context):
      context.codingPath.isEmpty
        ? "it is not a JSON object" : "'\(name(context.codingPath))' has the wrong type"
    case .dataCorrupted(let context):
      context.codingPath.isEmpty
        ? invalid(bytes) : "'\(name(context.codingPath))' has an invalid value"
    @unknown default: invalid(bytes)
    }
  }

  private static func invalid(_ bytes: [UInt8]) -> String {
    guard let place = JSONSyntax.error(in: bytes) else { return "it is not valid JSON" }
    return "it is not valid JSON (line \(place.line), column \(place.column))"
  }

  private static func name(_ path: [any CodingKey]) -> String {
    path.map { $0.intValue.map { "\($0)" } ?? $0.stringValue }.joined(separator: ".")
      .filter { !$0.isNewline }
  }
}
