# SPDX-License-Identifier: Apache-2.0
# usage: serial-guest.sh PROGRAM FOLDER SECONDS
#
# Runs in the guest, as root: a ttyACM gadget plays an nvsonic tracker that turns from side to side.
# Lists, watches and captures it as root and as an ordinary user, pulls the cable and plugs it in
# again. FOLDER holds this script. Prints "ok" or "FAILED" for each check; the status is the number
# of failures.
. "$KERNEL_TOOLS/guest.sh"
program=$1 here=$2 seconds=${3:-20} failures=0
check() { if eval "$2"; then echo "ok: $1"; else echo "FAILED: $1"; failures=$((failures + 1)); fi; }
as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/run/home XDG_STATE_HOME=/run/home "$@"; }
list_time() {
  local TIMEFORMAT=%R
  for _ in 1 2 3 4 5 6 7 8; do { time "$program" trackers > /run/list.txt 2> /dev/null; } 2>&1; done | sort -n | head -1
}

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

export HOME=/run/home XDG_CONFIG_HOME=/run/home/config XDG_STATE_HOME=/run/home
profiles=$XDG_CONFIG_HOME/stillstage/tracker-profiles
mkdir -p "$profiles" /run/udev/rules.d; chmod 755 /run/home
udev_up
modprobe cdc-acm
before=$(list_time)
usb_gadget "nvsonic board" NV-1 acm.usb0; usb_plug
until_true '[ -e /dev/ttyACM0 ] && [ -e /dev/ttyGS0 ]' 30 || dmesg | tail -5
udevadm settle
python3 "$here/virtual_nvsonic.py" /dev/ttyGS0 > /run/nvsonic.log 2>&1 & children+=($!); device=$!

echo "== a port that no profile and nobody names"
report_opening /dev/ttyACM0 > /run/openings.txt & children+=($!)
until_true 'grep -q ready /run/openings.txt' 30
"$program" trackers | tee /run/list.txt
check "it is not listed" '! grep -q nvsonic /run/list.txt'
sleep 1
check "it was not opened" '! grep -q opened /run/openings.txt'

echo "== a named port"
timeout -s INT 10 "$program" trackers watch serial:/dev/ttyACM0:nvsonic > /run/watch.txt 2> /run/notes.txt
cat /run/notes.txt; tail -1 /run/watch.txt
check "it was opened" 'grep -q opened /run/openings.txt'
check "its pose arrives" '[ $(wc -l < /run/watch.txt) -gt 10 ]'
link=$(ls /dev/serial/by-id/*nvsonic* 2>/dev/null | head -1)
check "it has a name in /dev/serial/by-id ($link)" '[ -e "$link" ]'

echo "== found by its numbers"
sed 's/"link": "serial",/&\n  "vendor": "1d6b", "product": "0104",/' \
  "$here/../../Calibration/trackers/nvsonic.json" > "$profiles/mine.json"
"$program" trackers check "$profiles/mine.json"
after=$(list_time); cat /run/list.txt
check "it is listed and ready" 'grep -q "NV-1.*nvsonic board.*ready" /run/list.txt'
echo "listing takes $before s without the device, $after s with it"
check "listing takes at most 0.3 s longer" 'awk "BEGIN { exit !($after < $before + 0.3) }"'
as_user env XDG_CONFIG_HOME=/run/home/config "$program" trackers > /run/list.txt; cat /run/list.txt
check "an ordinary user is told the rule and the group" \
  'grep -q "ATTRS{idVendor}==\"1d6b\"" /run/list.txt && grep -q dialout /run/list.txt'

echo "== watched for $seconds s, with the cable pulled and plugged in"
"$program" trackers watch NV-1 --record /run/home/head.csv --raw /run/home/raw.txt > /run/watch.txt 2> /run/notes.txt & watch=$!
until_true 'grep -q "is connected" /run/notes.txt' 60; sleep $((seconds / 2))
usb_pull; until_true 'grep -q disconnected /run/notes.txt' 30; sleep 1
kill $device; wait $device 2> /dev/null
usb_plug; until_true '[ -e /dev/ttyACM0 ]' 30
python3 "$here/virtual_nvsonic.py" /dev/ttyGS0 >> /run/nvsonic.log 2>&1 & children+=($!)
until_true '[ $(grep -c "is connected" /run/notes.txt) = 2 ]' 60; sleep $((seconds / 2))
kill -INT $watch; wait $watch; status=$?
cat /run/notes.txt; tail -1 /run/watch.txt
check "it was lost and found again" '[ $(grep -c "is connected" /run/notes.txt) = 2 ]'
check "it ended by the interrupt" '[ $status = 130 ]'
# The front is where the head was first, which differs from one connection to the next.
check "the head turns to both sides" 'awk -F, "NR > 1 { z = \$NF; if (z > max) max = z; if (z < min) min = z } END { exit !(max > 0.3 && min < -0.3) }" /run/home/head.csv'
check "the bytes are captured" 'grep -q "stillstage-frames 1 profile:nvsonic" /run/home/raw.txt && [ $(wc -l < /run/home/raw.txt) -gt 100 ]'
timeout -s INT 8 "$program" trackers watch replay:/run/home/raw.txt > /run/watch.txt 2>&1
check "the capture can be replayed" '[ $(wc -l < /run/watch.txt) -gt 10 ]'
usb_pull
exit $failures
