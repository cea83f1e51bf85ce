#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A virtual Waves Nx head tracker on an emulated radio, for a real kernel and a real bluetoothd.

It sends after `a011` was written. The head is that of virtual_head.py, with the folder /run/head;
while the folder has a file `away`, the tracker is out of range. The radio is that of the kernel
tools' earphone.py, whose option --name applies. Every write is printed.
"""
import asyncio
import os
import struct
import sys

sys.path.insert(0, os.environ['KERNEL_TOOLS'])
import earphone  # noqa: E402
from bumble.core import AdvertisingData  # noqa: E402
from bumble.device import Device, DeviceConfiguration  # noqa: E402
from bumble.gatt import Characteristic, CharacteristicValue, Service  # noqa: E402
from bumble.hci import LeFeatureMask  # noqa: E402
from bumble.host import Host  # noqa: E402
from bumble.transport import open_transport  # noqa: E402
from virtual_head import Head  # noqa: E402

BASE = '0000%s-5761-7665-7341-7564696f4c74'


class Air(earphone.Air):
    """Radio waves that do not carry what a radio out of range sends."""

    def send_advertising_pdu(self, sender_controller, packet):
        if sender_controller in self.controllers:
            super().send_advertising_pdu(sender_controller, packet)


class Adapter(earphone.Radio):
    """An adapter without LL privacy and extended advertising. With either, Linux would wait for an event that Bumble
    does not send (LE Enhanced Connection Complete), and then cancel the connection."""
    le_features = earphone.Radio.le_features & ~(LeFeatureMask.LL_PRIVACY | LeFeatureMask.LE_EXTENDED_ADVERTISING)


class Tracker:
    rate = 0

    def written(self, connection, data):
        print(f'host: {bytes(data).hex()}', flush=True)
        self.rate = data[0] if data[-1] else 0


def notification(quaternion):
    w, x, y, z = quaternion
    return struct.pack('<4h', *(round(v * 16384) for v in (-y, x, z, w))) + b'\0\3'


async def main():
    options = earphone.arguments()
    async with await open_transport('vhci') as transport:
        link = Air()
        adapter = Adapter('adapter', host_source=transport.source, host_sink=transport.sink, link=link,
                          public_address=earphone.ADAPTER)
        radio = earphone.Radio('tracker', link=link, public_address=earphone.EARPHONE)
        host = Host()
        host.controller = radio
        device = Device.from_config_with_hci(DeviceConfiguration.from_dict({
            'name': options.name, 'address': earphone.EARPHONE_LE, 'le_enabled': True,
            'keystore': None}), None, None)
        device.host = host
        tracker = Tracker()
        control = Characteristic(
            BASE % 'a011', Characteristic.Properties.WRITE, Characteristic.WRITEABLE,
            CharacteristicValue(write=tracker.written))
        values = Characteristic(
            BASE % 'a015', Characteristic.Properties.NOTIFY, Characteristic.READABLE, bytes(10))
        device.add_service(Service(BASE % 'a010', [control, values]))
        await device.power_on()
        device.advertising_data = bytes(AdvertisingData([
            (AdvertisingData.FLAGS, bytes([0x06])),
            (AdvertisingData.COMPLETE_LOCAL_NAME, options.name.encode())]))
        await device.start_advertising(auto_restart=True)
        print('earphone: ready', flush=True)

        loop = asyncio.get_running_loop()
        head = Head('/run/head')
        due = loop.time()
        away = False
        while True:
            if away != os.path.exists('/run/head/away'):
                away = not away
                print('tracker: out of range' if away else 'tracker: back', flush=True)
                tracker.rate = 0
                if away:
                    link.remove_controller(radio)
                    adapter.lose()
                    radio.lose()
                else:
                    link.add_controller(radio)
                    await device.start_advertising(auto_restart=True)
            if not away and tracker.rate:
                await device.notify_subscribers(values, notification(head.quaternion()))
            due = max(due + 1 / (tracker.rate or 50), loop.time())
            await asyncio.sleep(due - loop.time())


if __name__ == '__main__':
    asyncio.run(main())
