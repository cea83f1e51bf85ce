// SPDX-License-Identifier: Apache-2.0

private import CRealtime

/// The treatment of large blocks by the C library's `malloc`.
public enum LargeBlocks {
  /// Makes `malloc` return each block of 128 KiB or more to the system when it is freed.
  ///
  /// By default, glibc keeps such blocks after it has freed the first one (`M_MMAP_THRESHOLD` in
  /// mallopt(3)). Small blocks that stay between them then make the memory of a process grow for
  /// hours.
  public static func returnToSystem() { set_mapped_block_size(128 << 10) }
}
