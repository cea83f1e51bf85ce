# SPDX-License-Identifier: Apache-2.0
# usage: serial-guest.sh PROGRAM FOLDER
#
# Runs in the guest, as root: a ttyACM gadget plays an nvsonic tracker. Lists, watches, captures and
# calibrates it as root and as an ordinary user, pulls the cable and plugs it in again. FOLDER holds
# this script. Prints "ok" or "FAILED" for each check; the status is the number of failures.
program=$1 here=$2
. "$here/steps.sh"

# Prints "ready", and "opened" when somebody opens a file.
report_opening() {
  python3 -c '
import ctypes, os, sys
libc = ctypes.CDLL(None)
watch = libc.inotify_init()
libc.inotify_add_watch(watch, sys.argv[1].encode(), 0x20)
print("ready", flush=True)
os.read(watch, 4096)
print("opened", flush=True)' "$1"
}
plug() {
  usb_plug; until_true '[ -e /dev/ttyACM0 ] && [ -e /dev/ttyGS0 ]' 60 || dmesg | tail -5
  udevadm settle
  python3 "$here/virtual_nvsonic.py" /dev/ttyGS0 /run/head >> /run/nvsonic.log 2>&1 & device=$!
  children+=($device)
}

profiles=$XDG_CONFIG_HOME/stillstage/tracker-profiles
mkdir -p "$profiles" /run/udev/rules.d; chmod -R 755 /run/home
udev_up
modprobe cdc-acm
usb_gadget "nvsonic board" NV-1 acm.usb0; plug

echo "== a port that no profile and nobody names"
report_opening /dev/ttyACM0 > /run/openings.txt & children+=($!)
until_true 'grep -q ready /run/openings.txt' 60
list
check "it is not listed" '! grep -q nvsonic /run/list.txt'
sleep 1
check "it was not opened" '! grep -q opened /run/openings.txt'

echo "== a named port"
watch serial:/dev/ttyACM0:nvsonic
is_watched
check "it was opened" 'until_true "grep -q opened /run/openings.txt"'
stop_watching
link=$(ls /dev/serial/by-id/*nvsonic* 2>/dev/null | head -1)
check "it has a name in /dev/serial/by-id ($link)" '[ -e "$link" ]'

echo "== found by its numbers"
sed 's/"link": "serial",/&\n  "vendor": "1d6b", "product": "0104",/' \
  "$here/../../Calibration/trackers/nvsonic.json" > "$profiles/mine.json"
"$program" trackers check "$profiles/mine.json"
list
check "it is listed and ready" 'grep -q "NV-1.*nvsonic board.*ready" /run/list.txt'
lists_quickly without /sys/class/tty
as=("${ordinary[@]}"); list; as=()
check "an ordinary user is told the rule and the group" \
  'grep -q "ATTRS{idVendor}==\"1d6b\"" /run/list.txt && grep -q dialout /run/list.txt'

echo "== watched, with the cable pulled and plugged in"
watch NV-1 --record /run/home/head.csv --raw /run/home/raw.txt
is_watched
turns
usb_pull
is_lost "a pulled cable is a loss" 1
kill $device; wait $device 2> /dev/null; sleep 1; plug
is_found_again 2
sleep 5; stop_watching
check "it ended by the interrupt" '[ $status = 130 ]'
echo "$(wc -l < /run/home/head.csv) samples"
check "the bytes are captured" 'grep -q "stillstage-frames 1 profile:nvsonic" /run/home/raw.txt && [ $(wc -l < /run/home/raw.txt) -gt 100 ]'
watch replay:/run/home/raw.txt
check "the capture can be replayed" 'until_true "poses 10" 60'
stop_watching

echo "== calibrated"
is_calibrated NV-1
usb_pull
exit $failures
