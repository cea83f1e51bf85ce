# SPDX-License-Identifier: Apache-2.0
# usage: trackers-guest.sh PROGRAM FOLDER
#
# Runs in the guest, as root. FOLDER holds this script. Prints "ok" or "FAILED" for each check; the
# status is the number of failures. The times allow for an emulated processor.
. "$KERNEL_TOOLS/guest.sh"
program=$1 here=$2 failures=0
check() { if eval "$2"; then echo "ok: $1"; else echo "FAILED: $1"; failures=$((failures + 1)); fi; }
now() { date +%s%N | cut -b-13; }
# tracker BUS SECONDS NAME SERIAL: starts a head tracker in the background; its log is in $log
tracker() {
  log=/run/tracker.$4
  "$bin/uhid_tracker" "$1" 054c 0df0 50 "$2" "$3" "$4" > $log 2>&1 & device=$!
  children+=($device)
  for _ in $(seq 200); do sleep .1; grep -qs "HID_UNIQ=$4" /sys/bus/hid/devices/*/uevent && break; done
  sleep .5
}
gone() { kill $device 2>/dev/null; wait $device 2>/dev/null; }
nodes() { ls /dev/hidraw* 2>/dev/null | wc -l; }

echo "== kernel $(uname -r)"
modprobe -a uhid hid-generic
mkdir -p /run/udev/rules.d
echo 'SUBSYSTEM=="hidraw", MODE="0600"' > /run/udev/rules.d/70-test.rules
udev_up
export HOME=/run/home XDG_STATE_HOME=/run/home; mkdir -p $HOME

# was_switched_off: whether the last setting of the tracker in $log is off, after it was on
was_switched_off() {
  grep -q 'set report 1 .* 01 03\]' $log && grep 'set report 1' $log | tail -1 | grep -q ' 01 00\]'
}

echo "== closing the terminal switches the tracker off"
off=0
for try in 1 2 3 4 5 6; do
  VERBOSE=1 tracker 5 300 "Head Phones" "00:00:00:00:01:0$try"
  python3 "$here/close_terminal.py" "is connected" "$program" trackers watch "00:00:00:00:01:0$try"
  until_true was_switched_off 5 && off=$((off + 1))
  gone
done
check "the tracker is off after all of 6 tries ($off)" '[ $off = 6 ]'
off=0
for try in 1 2 3; do
  VERBOSE=1 tracker 5 300 "Head Phones" "00:00:00:00:02:0$try"
  timeout 300 "$program" trackers watch "00:00:00:00:02:0$try" > /run/watch.txt 2>&1 & watch=$!
  until_true 'grep -q "is connected" /run/watch.txt' 60; sleep 1
  # As at the end of the time, timeout passes the signal on and repeats it to the group.
  kill -TERM $watch; wait $watch
  until_true was_switched_off 5 && off=$((off + 1))
  gone
done
check "the tracker is off after 'timeout' in all of 3 tries ($off)" '[ $off = 3 ]'

echo "== a physical collection"
PHYSICAL=1 tracker 5 300 "Physical Phones" 00:00:00:00:03:01
hid_nodes
"$program" trackers | tee /run/list.txt
if [ "$(nodes)" = 0 ]; then
  check "the list says what holds it" 'grep -q "held by hid-sensor-hub" /run/list.txt'
  check "the list says what to do" 'grep -q "modprobe -r hid_sensor_custom hid_sensor_hub" /run/list.txt'
  "$program" trackers watch 00:00:00:00:03:01 > /run/watch.txt 2>&1; status=$?; cat /run/watch.txt
  check "watch says it too" '[ $status = 1 ] && grep -q "modprobe -r" /run/watch.txt'
  modprobe -r hid_sensor_custom hid_sensor_hub || lsmod | grep hid_sensor
  until_true '[ $(nodes) = 1 ]'
  "$program" trackers | tee /run/list.txt
  check "without the module, the tracker is ready at once" 'grep -q "Physical Phones.*ready" /run/list.txt'
  gone
  # udev loads the module again when the tracker is connected, unless it is blacklisted.
  modprobe -r hid_sensor_custom hid_sensor_hub
  mkdir -p /run/modprobe.d; echo 'blacklist hid_sensor_hub' > /run/modprobe.d/test.conf
  udevadm control --exit; udev_up
  PHYSICAL=1 tracker 5 300 "Physical Phones" 00:00:00:00:03:02
  "$program" trackers | tee /run/list.txt
  rm /run/modprobe.d/test.conf; udevadm control --exit; udev_up
fi
check "the tracker is ready" 'grep -q "Physical Phones.*ready" /run/list.txt'
gone

echo "== a physical collection on USB"
modprobe usbhid
usb_gadget "USB Phones" USB-1 ffs.tracker
mkdir -p /run/ffs; mount -t functionfs tracker /run/ffs
/usr/bin/python3 "$here/usb_head_tracker.py" /run/ffs "$here/../../Calibration/virtual-tracker" > /run/usb.log 2>&1 & children+=($!)
until_true 'grep -q ready /run/usb.log' || cat /run/usb.log; usb_plug
until_true 'ls -d /sys/bus/hid/devices/0003:*'; sleep 2; hid_nodes
[ "$(nodes)" = 0 ] && held=yes || held=
setpriv --reuid 65534 --regid 65534 --clear-groups "$program" trackers > /run/list.txt; cat /run/list.txt
[ -z "$held" ] || check "the rule for the USB device is printed" 'grep -q "SUBSYSTEM==\"usb\", ATTR{idVendor}==\"1d6b\", ATTR{idProduct}==\"0104\"" /run/list.txt'
"$program" trackers > /run/list.txt; cat /run/list.txt
check "it is ready" 'grep -q "USB Phones.*ready" /run/list.txt'
"$program" trackers watch USB-1 > /run/watch.txt 2> /run/notes.txt & watch=$!
until_true '[ $(wc -l < /run/watch.txt) -gt 20 ]' 60; kill -INT $watch; wait $watch; cat /run/notes.txt; tail -1 /run/watch.txt; cat /run/usb.log
check "its pose arrives" '[ $(wc -l < /run/watch.txt) -gt 10 ]'
check "it is switched off at the end" '[ "$(grep power /run/usb.log | tail -1)" = "power 0x855" ]'
hid_nodes
check "the kernel's driver has it again" '[ -z "$held" ] || ls -l /sys/bus/hid/devices/0003:*/driver | grep -q hid-sensor-hub'
usb_pull; sleep 1

echo "== the udev rule of another bus"
tracker 24 300 "I2C Phones" I2C-1
setpriv --reuid 65534 --regid 65534 --clear-groups "$program" trackers | tee /run/list.txt
rule=$(sed -n 's/^ *\(KERNEL.*\)/\1/p' /run/list.txt)
check "the rule names bus 0018" 'echo "$rule" | grep -q "KERNELS==\"0018:054C:0DF0"'
echo "$rule, MODE=\"0666\"" > /run/udev/rules.d/71-test.rules
udevadm control --reload; gone
tracker 24 300 "I2C Phones" I2C-2
udevadm settle
check "with the rule, every user may open it" '[ "$(stat -c %a /dev/hidraw* | head -1)" = 666 ]'
rm /run/udev/rules.d/71-test.rules; udevadm control --reload; gone

echo "== a name with line breaks"
tracker 5 300 $'Head\nHID_UNIQ=forged' 00:00:00:00:04:01
"$program" trackers > /run/list.txt; cat /run/list.txt
check "the serial number is the kernel's" 'grep -q 00:00:00:00:04:01 /run/list.txt && ! grep -q forged /run/list.txt'
gone

echo "== a tracker that does not answer"
MUTE=1 VERBOSE=1 tracker 5 300 "Mute Phones" 00:00:00:00:05:01; mute=$device questions=$log
tracker 5 300 "Good Phones" 00:00:00:00:05:02
# asked COMMAND...: starts the command, and waits until it has asked the mute tracker
asked() {
  local before; before=$(grep -c "get report" $questions)
  "$@" > /run/asked.txt 2>&1 & asking=$!
  until_true '[ $(grep -c "get report" '$questions') -gt '"$before"' ]' 60
  begin=$(now)
}
# Without a deadline, the kernel waits 5 s for each answer.
asked "$program" trackers; wait $asking; took=$(($(now) - begin)); cat /run/asked.txt
check "the list ends $took ms after the question" '[ $took -lt 4000 ]'
check "the list says so" 'grep -q "Mute Phones.*it did not answer within 1 s" /run/asked.txt'
# An emulated tracker may take longer than the deadline.
check "the other tracker is listed" 'for _ in 1 2 3 4 5 6; do "$program" trackers | grep "Good Phones.*ready" && break; done'
"$program" trackers watch 00:00:00:00:05:01 > /run/watch.txt 2>&1; cat /run/watch.txt
check "the advice is given once" '[ $(grep -o "reconnect the tracker" /run/watch.txt | wc -l) = 1 ]'
# In the emulator, the signal may come only when the program already ends.
for _ in 1 2 3 4 5; do
  sleep 10
  asked "$program" trackers watch 00:00:00:00:05:01
  kill -INT $asking; wait $asking; status=$?; took=$(($(now) - begin))
  [ $status = 130 ] && break
done
check "watch obeys SIGINT after $took ms with status $status" '[ $took -lt 3000 ] && [ $status = 130 ]'
kill $mute; gone

echo "== 20 reconnections"
tracker 5 300 "Head Phones" 00:00:00:00:06:01
"$program" trackers watch 00:00:00:00:06:01 > /run/watch.txt 2> /run/notes.txt & watch=$!
until_true '[ $(grep -c "is connected" /run/notes.txt) = 1 ]'; sleep 1
before=$(ls /proc/$watch/fd | wc -l)
for round in $(seq 2 21); do
  kill -9 $device; wait $device 2>/dev/null
  until_true '[ $(grep -c disconnected /run/notes.txt) = '$((round - 1))' ]'
  tracker 5 300 "Head Phones" 00:00:00:00:06:01
  until_true '[ $(grep -c "is connected" /run/notes.txt) = '$round' ]'
done
sleep 1; after=$(ls /proc/$watch/fd | wc -l)
check "descriptors before and after: $before, $after" '[ "$before" = "$after" ] && [ "$before" -gt 3 ]'
kill -INT $watch; wait $watch; gone
exit $failures
