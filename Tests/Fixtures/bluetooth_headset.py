#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A Bluetooth headset for PulseAudio's module-bluez5-discover: BlueZ's objects on the system bus, with A2DP and hands-free.

usage: DBUS_SYSTEM_BUS_ADDRESS=... bluetooth_headset.py CODECS

CODECS are those of the hands-free profile: "1" for CVSD, "1,2" for CVSD and mSBC. The sound that is played disappears. The
link to the microphone needs a kernel with Bluetooth, or sco_link.c. The line "disconnect" on the standard input removes the
headset, and the end of the standard input ends the program.

Debian packages: python3-dbus python3-gi
"""
import socket
import sys
import threading
import time

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

ADAPTER = '/org/bluez/hci0'
HEADSET = ADAPTER + '/dev_00_11_22_33_44_55'
TRANSPORT = HEADSET + '/fd0'


def uuid(number):
    return '0000%s-0000-1000-8000-00805f9b34fb' % number


A2DP_SOURCE, HANDS_FREE_GATEWAY = uuid('110a'), uuid('111f')
HEADSET_UUIDS = dbus.Array([uuid('110b'), uuid('110d'), uuid('111e')], signature='s')
OBJECTS = {
    ADAPTER: {
        'org.bluez.Adapter1': {
            'Address': '00:AA:BB:CC:DD:EE', 'Name': 'test', 'Alias': 'test', 'Powered': True,
            'UUIDs': dbus.Array([A2DP_SOURCE, uuid('110b'), uuid('1112'), HANDS_FREE_GATEWAY], signature='s')},
        'org.bluez.Media1': {'SupportedUUIDs': HEADSET_UUIDS}},
    HEADSET: {
        'org.bluez.Device1': {
            'Address': '00:11:22:33:44:55', 'Name': 'Test Headset', 'Alias': 'Test Headset', 'Class': dbus.UInt32(0x240404),
            'Paired': True, 'Trusted': True, 'Connected': True, 'ServicesResolved': True, 'UUIDs': HEADSET_UUIDS,
            'Adapter': dbus.ObjectPath(ADAPTER)}}}


def typed(interfaces):
    return {name: dbus.Dictionary(values, signature='sv') for name, values in interfaces.items()}


class Root(dbus.service.Object):
    @dbus.service.method('org.freedesktop.DBus.ObjectManager', out_signature='a{oa{sa{sv}}}')
    def GetManagedObjects(self):
        return {dbus.ObjectPath(path): typed(interfaces) for path, interfaces in OBJECTS.items()}

    @dbus.service.signal('org.freedesktop.DBus.ObjectManager', signature='oas')
    def InterfacesRemoved(self, path, interfaces):
        pass


class Node(dbus.service.Object):
    """An object of BlueZ. PulseAudio registers its endpoints and profiles here."""

    @dbus.service.method('org.bluez.Media1', in_signature='oa{sv}', sender_keyword='sender')
    def RegisterApplication(self, path, options, sender=None):
        GLib.timeout_add(200, configure, sender)

    @dbus.service.method('org.bluez.Media1', in_signature='oa{sv}')
    def RegisterEndpoint(self, path, properties):
        pass

    @dbus.service.method('org.bluez.ProfileManager1', in_signature='osa{sv}', sender_keyword='sender')
    def RegisterProfile(self, path, number, options, sender=None):
        if number == HANDS_FREE_GATEWAY:
            GLib.timeout_add(600, connect_hands_free, sender, path)

    @dbus.service.method('org.freedesktop.DBus.Properties', in_signature='s', out_signature='a{sv}')
    def GetAll(self, interface):
        return dbus.Dictionary(OBJECTS.get(self._object_path, {}).get(interface, {}), signature='sv')

    @dbus.service.method('org.freedesktop.DBus.Properties', in_signature='ssv')
    def Set(self, interface, name, value):
        pass

    @dbus.service.signal('org.freedesktop.DBus.Properties', signature='sa{sv}as')
    def PropertiesChanged(self, interface, changed, invalidated):
        pass


class Transport(dbus.service.Object):
    """The A2DP link, whose sound disappears."""

    links = []

    @dbus.service.method('org.bluez.MediaTransport1', out_signature='hqq')
    def Acquire(self):
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.links.append((near, far))
        threading.Thread(target=lambda: [None for _ in iter(lambda: far.recv(4096), b'')], daemon=True).start()
        return dbus.types.UnixFd(near), dbus.UInt16(672), dbus.UInt16(672)

    @dbus.service.method('org.bluez.MediaTransport1', out_signature='hqq')
    def TryAcquire(self):
        return self.Acquire()

    @dbus.service.method('org.bluez.MediaTransport1')
    def Release(self):
        pass


def ignore(*_):
    pass


def configure(server):
    """Connects A2DP with the codec SBC."""
    properties = {
        'Device': dbus.ObjectPath(HEADSET), 'UUID': A2DP_SOURCE, 'Codec': dbus.Byte(0), 'State': 'idle',
        'Configuration': dbus.Array([dbus.Byte(value) for value in (0x21, 0x15, 2, 53)], signature='y'),
        'Volume': dbus.UInt16(100)}
    bus.call_async(
        server, '/MediaEndpoint/A2DPSource/sbc', 'org.bluez.MediaEndpoint1', 'SetConfiguration', 'oa{sv}',
        (dbus.ObjectPath(TRANSPORT), dbus.Dictionary(properties, signature='sv')), ignore, ignore)
    return False


def connect_hands_free(server, path):
    near, far = socket.socketpair()
    kept.append((near, far))
    bus.call_async(
        server, path, 'org.bluez.Profile1', 'NewConnection', 'oha{sv}',
        (dbus.ObjectPath(HEADSET), dbus.types.UnixFd(near), dbus.Dictionary({}, signature='sv')), ignore, ignore)
    threading.Thread(target=talk, args=(far,), daemon=True).start()
    return False


def talk(link):
    """The headset's side of the dialogue that establishes the hands-free connection."""

    def answer(text):
        if b'+BCS:' in text:
            link.send(b'AT+BCS=%s\r' % text.split(b'+BCS:')[1].strip()[:1])

    time.sleep(0.3)
    link.settimeout(1)
    for command in ('AT+BRSF=191', 'AT+BAC=' + sys.argv[1], 'AT+CIND=?', 'AT+CIND?', 'AT+CMER=3,0,0,1', 'AT+CHLD=?'):
        link.send((command + '\r').encode())
        time.sleep(0.15)
        try:
            answer(link.recv(2048))
        except OSError:
            pass
    while True:
        try:
            text = link.recv(512)
            if not text:
                return
            answer(text)
        except OSError:
            pass


def disconnect():
    OBJECTS[HEADSET]['org.bluez.Device1']['Connected'] = False
    device.PropertiesChanged('org.bluez.Device1', {'Connected': False}, [])
    root.InterfacesRemoved(HEADSET, ['org.bluez.Device1'])
    return False


def obey():
    for line in sys.stdin:
        if line.strip() == 'disconnect':
            GLib.idle_add(disconnect)
    GLib.idle_add(loop.quit)


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SystemBus()
name = dbus.service.BusName('org.bluez', bus)
loop = GLib.MainLoop()
root = Root(bus, '/')
device = Node(bus, HEADSET)
kept = [Node(bus, '/org/bluez'), Node(bus, ADAPTER), Transport(bus, TRANSPORT)]
threading.Thread(target=obey, daemon=True).start()
print('ready', flush=True)
loop.run()
