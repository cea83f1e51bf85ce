// SPDX-License-Identifier: Apache-2.0

import Glibc

/// 512 MiB.
private let largestFileBytes = 1 << 29

/// Opens a regular file of at most 512 MiB that starts with the HDF5 signature, and returns its
/// descriptor. A FIFO or a device cannot block the process.
func openRegularFile(_ path: String) throws(Refusal) -> Int32 {
  let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
  guard descriptor >= 0 else { throw Refusal(.cannotOpen, String(cString: strerror(errno))) }
  var status = stat()
  guard fstat(descriptor, &status) == 0 else {
    throw Refusal(.cannotOpen, String(cString: strerror(errno)))
  }
  guard status.st_mode & S_IFMT == S_IFREG else {
    throw Refusal(.cannotOpen, "it is \(kindName(status.st_mode)), not a regular file")
  }
  guard status.st_size > 0 else { throw Refusal(.notSofa, "it is empty") }
  guard status.st_size <= largestFileBytes else {
    throw Refusal("it has \(status.st_size) bytes; at most \(largestFileBytes) are supported")
  }
  var signature = [UInt8](repeating: 0, count: 8)
  guard pread(descriptor, &signature, 8, 0) == 8,
    signature == [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a]
  else { throw Refusal(.notSofa, "it does not start with the HDF5 signature") }
  return descriptor
}

private func kindName(_ mode: mode_t) -> String {
  switch mode & S_IFMT {
  case S_IFDIR: "a directory"
  case S_IFIFO: "a FIFO"
  case S_IFSOCK: "a socket"
  default: "a device"
  }
}
