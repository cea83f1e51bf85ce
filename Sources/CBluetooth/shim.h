// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include <sys/socket.h>

// Structures for the kernel's Bluetooth sockets, as in net/bluetooth/bluetooth.h and l2cap.h. glibc
// does not declare them.

/// The address of an L2CAP channel. `psm` is little-endian. `address` begins with the least
/// significant byte.
struct bluetooth_l2cap_address {
  sa_family_t family;
  uint16_t psm;
  uint8_t address[6];
  uint16_t cid;
  uint8_t address_type;
};

/// The options of an L2CAP channel, for `L2CAP_OPTIONS`.
struct bluetooth_l2cap_options {
  uint16_t outgoing_mtu;
  uint16_t incoming_mtu;
  uint16_t flush_timeout;
  uint8_t mode;
  uint8_t checksum;
  uint8_t most_transmissions;
  uint16_t window;
};

/// The security of a socket, for `BT_SECURITY`.
struct bluetooth_security {
  uint8_t level;
  uint8_t key_size;
};
