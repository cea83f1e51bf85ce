# SPDX-License-Identifier: Apache-2.0
# usage: earphones-guest.sh PROGRAM FOLDER SECONDS
#
# Runs in the guest, as root: for AirPods and for Galaxy Buds, finds, lists and watches the virtual
# earphones with PROGRAM as an ordinary user, loses the link and gets it back, and stops cleanly.
# FOLDER holds this script. Prints "ok" or "FAILED" for each check; the status is the number of
# failures.
. "$KERNEL_TOOLS/guest.sh"
program=$1 here=$2 seconds=${3:-60} address=00:00:00:EE:EE:02 failures=0

check() { if eval "$2"; then echo "ok: $1"; else echo "FAILED: $1"; failures=$((failures + 1)); fi; }
as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/run/home XDG_STATE_HOME=/run/home "$@"; }

mkdir -p /run/home && chown 65534:65534 /run/home
export MODEL=$GUEST_MODEL EARPHONE=$here/virtual_earphones.py
name='Virtual AirPods'; [ "$MODEL" = galaxy ] && name='Galaxy Buds2 Pro (0000)'

lost_at=$((10 + seconds / 2))
earphone_up --rate 50 --name "$name" --die $lost_at --back $((lost_at + 6)) || exit 100
agent_up
# One process for each link: Debian 12's Python can crash when it opens a second one.
while :; do /usr/bin/python3 "$here/pair_and_hold.py" $address; sleep 1; done > /run/hold.log 2>&1 & children+=($!)
until_true 'grep -q held /run/hold.log' 60 || { cat /run/hold.log /run/earphone.log; exit 100; }

echo "== $MODEL: list"
as_user "$program" trackers | tee /run/list.txt
check "it is listed" 'grep -q "$name" /run/list.txt'
[ "$MODEL" = galaxy ] || check "the battery is listed" 'grep -q "battery left 85 %, right 90 %, case 50 %" /run/list.txt'

echo "== $MODEL: watch for $seconds s"
as_user timeout -s INT "$seconds" "$program" trackers watch $address --record /run/home/head.csv \
  --raw /run/home/raw.txt > /run/watch.txt 2> /run/notes.txt
status=$?
cat /run/notes.txt
echo "$(wc -l < /run/home/head.csv) samples, $(wc -l < /run/home/raw.txt) packets, $(awk -F, 'NR > 1 && $1 - last > 0.5 { print "gap", last, $1 } { last = $1 }' /run/home/head.csv | tr '\n' ';')"
check "it ended by the interrupt" '[ $status = 124 ] || [ $status = 130 ]'
check "it was watched before the loss and after it" 'grep -q "disconnected" /run/notes.txt && [ $(grep -c "is connected" /run/notes.txt) = 2 ]'
check "the head turns 40 degrees to both sides" 'awk "{ if (\$2 > max) max = \$2; if (\$2 < min) min = \$2 } END { exit !(max > 38 && min < -38 && max < 90 && min > -90) }" /run/watch.txt'
if [ "$MODEL" = galaxy ]; then
  check "the earphones saw the end" 'until_true "grep host: /run/earphone.log | tail -2 | grep -q fd0400c3012653dd" 10'
else
  check "the earphones saw the stop" 'until_true "grep host: /run/earphone.log | tail -1 | grep -q 00000000\$" 10'
  check "the link was encrypted" '! grep -q refused /run/earphone.log'
fi
check "nothing else was sent" '! grep "host:" /run/earphone.log | grep -vqE "host: (0000040001000200|040004004d00|040004000f00|04000400170000001000|fd0400c3|fd04007c)"'
as_user timeout -s INT 20 "$program" trackers watch replay:/run/home/raw.txt > /run/replay.txt 2>> /run/notes.txt
check "the capture replays" '[ $(wc -l < /run/replay.txt) -gt 20 ]'
[ $failures = 0 ] || { tail -30 /run/earphone.log; head -5 /run/hold.log; grep -vi vcp /run/bluetoothd.log | tail; head -5 /run/watch.txt; tail -2 /run/home/raw.txt; }
exit $failures
