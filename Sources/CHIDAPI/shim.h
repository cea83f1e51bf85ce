// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <hidapi.h>
#include <linux/hidraw.h>
#include <sys/ioctl.h>
#include <unistd.h>

/// Checks whether a device node can be opened as hidraw. Returns 0 or an errno value.
///
/// hidapi 0.13.1 does not report why it could not open a device, and it uses a freed handle if this
/// ioctl fails.
static inline int hidraw_check(const char *path) {
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return errno;
  int size = 0;
  int result = ioctl(fd, HIDIOCGRDESCSIZE, &size) < 0 ? errno : 0;
  close(fd);
  return result;
}
