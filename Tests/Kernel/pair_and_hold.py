#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: pair_and_hold.py ADDRESS

Finds and pairs a device, as a user does in the desktop's settings, unless it is paired, and keeps its
link open until it is lost, in the place of the audio that real earphones keep open.
"""
import socket
import sys
import time

import dbus

address = sys.argv[1]
bus = dbus.SystemBus()
path = '/org/bluez/hci0/dev_' + address.replace(':', '_')
objects = dbus.Interface(bus.get_object('org.bluez', '/'), 'org.freedesktop.DBus.ObjectManager')
adapter = dbus.Interface(bus.get_object('org.bluez', '/org/bluez/hci0'), 'org.bluez.Adapter1')
if path not in objects.GetManagedObjects():
    adapter.SetDiscoveryFilter({'Transport': 'bredr'})
    adapter.StartDiscovery()
    end = time.monotonic() + 30
    while path not in objects.GetManagedObjects():
        if time.monotonic() > end:
            sys.exit('not found')
        time.sleep(.1)
    adapter.StopDiscovery()
device = bus.get_object('org.bluez', path)
properties = dbus.Interface(device, 'org.freedesktop.DBus.Properties')
if not properties.Get('org.bluez.Device1', 'Paired'):
    dbus.Interface(device, 'org.bluez.Device1').Pair(timeout=60)
    properties.Set('org.bluez.Device1', 'Trusted', True)
try:
    link = socket.socket(socket.AF_BLUETOOTH, socket.SOCK_SEQPACKET, socket.BTPROTO_L2CAP)
    link.settimeout(20)
    link.connect((address, 1))
    print('held', [str(u)[:8] for u in properties.Get('org.bluez.Device1', 'UUIDs')], flush=True)
    link.settimeout(None)
    while link.recv(1024):
        pass
    print('lost', flush=True)
except OSError as error:
    print('lost:', error, flush=True)
