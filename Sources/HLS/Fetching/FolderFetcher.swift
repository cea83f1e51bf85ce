// SPDX-License-Identifier: Apache-2.0

/// A fetcher that reads the files of a downloaded presentation.
public struct FolderFetcher: ResourceFetcher {
  private let rules: AccessRules

  /// Creates a fetcher that refuses files outside the folder.
  ///
  /// - Parameter remedy: advice to add to the message about such a file; nil for no advice.
  public init(_ folder: PresentationFolder, remedy: String? = nil) {
    rules = AccessRules(.folder(folder.path), remedy: remedy)
  }

  public func fetch(
    _ request: FetchRequest, goesOn: (FetchTiming) -> Bool
  ) throws(FetchError) -> FetchedResource {
    guard case .file(let path) = request.address else {
      throw .refused(AccessRefusal(request.address.description, "it is not a local file"))
    }
    let file: LocalFile
    do throws(LocalFile.Problem) {
      file = try LocalFile(path: path, address: path, rules: rules)
    } catch { throw Self.error(error, path) }
    let range = request.range ?? ByteRange(offset: 0, length: file.size)
    guard range.length <= request.limit else { throw .tooLong(limit: request.limit) }
    let bytes: [UInt8]
    do throws(LocalFile.Problem) { bytes = try file.read(range) } catch {
      throw Self.error(error, path)
    }
    guard bytes.count == range.length else {
      throw .tooShort(expected: range.length, got: bytes.count)
    }
    return FetchedResource(
      bytes: bytes, timing: FetchTiming(bytes: bytes.count), address: request.address)
  }

  private static func error(_ problem: LocalFile.Problem, _ path: String) -> FetchError {
    switch problem {
    case .refused(let refusal): .refused(refusal)
    case .unreadable(let reason): .missing("\(path): \(reason)")
    }
  }
}
