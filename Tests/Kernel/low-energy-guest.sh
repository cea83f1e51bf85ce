# SPDX-License-Identifier: Apache-2.0
# usage: low-energy-guest.sh PROGRAM FOLDER
#
# Runs in the guest, as root: searches for a virtual Waves Nx with PROGRAM as an ordinary user, lists
# and watches it, loses the link and gets it back, stops cleanly, and calibrates it. FOLDER holds
# this script. Prints "ok" or "FAILED" for each check; the status is the number of failures.
program=$1 here=$2 address=C2:00:00:EE:EE:03
. "$here/steps.sh"
as=("${ordinary[@]}")
chown -R 65534:65534 /run/home
export EARPHONE=$here/virtual_nx.py
earphone_up --name 'Nx Tracker 2' || exit 100
commands() { grep host: /run/earphone.log | cut -c7- | tr '\n' ' '; }
is_disconnected() { check "it is disconnected afterwards" 'until_true "bluetoothctl info $address | grep -q \"Connected: no\"" 20'; }

echo "== search and list"
list
check "it is not known before the search" '! grep -q Nx /run/list.txt'
list --scan
check "the search finds it" 'grep -q "$address.*Nx Tracker 2.*ready when in range" /run/list.txt'
list --json
check "the next list has it" 'tr -d " \n" < /run/list.txt | grep -q "\"connected\":false.*\"protocol\":\"WavesNx\""'
lists_quickly env DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent

echo "== watched, with the link lost and found again"
watch $address --record /run/home/head.csv
is_watched
turns
touch /run/head/away
is_lost "out of range is a loss" 1
sleep 5; rm /run/head/away
is_found_again 2
sleep 5; stop_watching
echo "$(wc -l < /run/home/head.csv) samples"
check "it ended by the interrupt" '[ $status = 130 ]'
check "it was started twice and stopped" '[ "$(commands)" = "6400000001 6400000001 6400000000 " ]'
is_disconnected

echo "== calibrated"
is_calibrated $address
is_disconnected
[ $failures = 0 ] || { tail -30 /run/earphone.log; tail /run/bluetoothd.log; head -5 /run/watch.txt; }
exit $failures
