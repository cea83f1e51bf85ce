# SPDX-License-Identifier: Apache-2.0
# usage: low-energy-guest.sh PROGRAM FOLDER SECONDS
#
# Runs in the guest, as root: searches for a virtual Waves Nx with PROGRAM as an ordinary user, lists
# and watches it, loses the link and gets it back, and stops cleanly. FOLDER holds this script.
# Prints "ok" or "FAILED" for each check; the status is the number of failures.
. "$KERNEL_TOOLS/guest.sh"
program=$1 here=$2 seconds=${3:-60} address=C2:00:00:EE:EE:03 failures=0

check() { if eval "$2"; then echo "ok: $1"; else echo "FAILED: $1"; failures=$((failures + 1)); fi; }
as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/run/home XDG_STATE_HOME=/run/home "$@"; }

mkdir -p /run/home && chown 65534:65534 /run/home
lost_at=$((seconds / 3))
export EARPHONE=$here/virtual_nx.py
earphone_up --name 'Nx Tracker 2' --die $lost_at --back $((lost_at + 6)) || exit 100

# Prints how long the quickest of eight lists takes, in s.
list_time() {
  local TIMEFORMAT=%R
  for _ in 1 2 3 4 5 6 7 8; do { time as_user "$program" trackers --json > /run/list.json 2> /dev/null; } 2>&1; done | sort -n | head -1
}

echo "== search and list"
as_user "$program" trackers > /run/before.txt
check "it is not known before the search" '! grep -q Nx /run/before.txt'
before=$(list_time)
as_user "$program" trackers --scan > /run/list.txt 2> /run/notes.txt
cat /run/notes.txt /run/list.txt
check "the search finds it" 'grep -q "$address.*Nx Tracker 2.*ready when in range" /run/list.txt'
as_user "$program" trackers --json > /run/list.json
check "the next list has it" 'tr -d " \n" < /run/list.json | grep -q "\"connected\":false.*\"protocol\":\"WavesNx\""'

echo "== watch for $seconds s"
as_user timeout -s INT "$seconds" "$program" trackers watch $address --record /run/home/head.csv \
  > /run/watch.txt 2> /run/notes.txt
status=$?
cat /run/notes.txt
echo "$(wc -l < /run/home/head.csv) samples, $(awk -F, 'NR > 1 && $1 - last > 0.5 { print "gap", last, $1 } { last = $1 }' /run/home/head.csv | tr '\n' ';')"
tail -1 /run/watch.txt
check "it ended by the interrupt" '[ $status = 124 ] || [ $status = 130 ]'
check "it was watched before the loss and after it" 'grep -q "disconnected" /run/notes.txt && [ $(grep -c "is connected" /run/notes.txt) = 2 ]'
check "the head turns 40 degrees to both sides" 'awk "{ if (\$2 > max) max = \$2; if (\$2 < min) min = \$2 } END { exit !(max > 38 && min < -38 && max < 90 && min > -90) }" /run/watch.txt'
check "the tracker was started twice and stopped" '[ "$(grep host: /run/earphone.log | cut -c7- | tr "\n" " ")" = "6400000001 6400000001 6400000000 " ]'
check "it is disconnected afterwards" 'until_true "bluetoothctl info $address | grep -q \"Connected: no\"" 10'
echo "== time"
after=$(list_time)
echo "listing takes $before s without a known tracker, $after s with one"
check "listing takes at most 0.3 s longer" 'awk "BEGIN { exit !($after < $before + 0.3) }"'
[ $failures = 0 ] || { tail -30 /run/earphone.log; tail /run/bluetoothd.log; head -5 /run/watch.txt; }
exit $failures
