// SPDX-License-Identifier: Apache-2.0

private import CRealtime

/// Controls how the C library allocates large blocks.
public enum LargeBlocks {
  /// Makes the C library allocate blocks of 128 KiB or more in such a way that `free` returns them
  /// to the system.
  ///
  /// By default, after a large block has been freed, glibc takes later blocks of up to its size
  /// from the heap (`M_MMAP_THRESHOLD` in mallopt(3)). Small blocks that stay between them on the
  /// heap can then make the memory of a process grow for hours.
  public static func returnToSystem() { set_mapped_block_size(128 << 10) }
}
