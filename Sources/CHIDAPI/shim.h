// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <hidapi.h>
#include <linux/hidraw.h>
#include <sys/ioctl.h>
#include <unistd.h>

/// Whether the node can be opened and answers as hidraw: 0, or the errno that says why not.
///
/// hidapi 0.13.1 does not tell why it could not open a device, and uses a handle it has freed when
/// this very question fails.
static inline int hidraw_check(const char *path) {
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return errno;
  int size = 0;
  int result = ioctl(fd, HIDIOCGRDESCSIZE, &size) < 0 ? errno : 0;
  close(fd);
  return result;
}
