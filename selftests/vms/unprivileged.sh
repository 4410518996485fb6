#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
#
# What somebody without rights can take of a machine by 10,000 attempts to add fabrics, ports and comms, in network namespaces of a
# user namespace of his own: of a processor less than a hundredth while he does nothing with them, and the memory that he is
# charged with. The guest's clock counts instructions, and it has one processor: what others have lost of it is what a
# process that only looks at the clock does less often.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

# In the guest, by the user: two network namespaces with 64 cables between them, and in each 4,000 attempts from a batch;
# $1: which; then 2,000 comms. Says "ready", and how many of these; goes on until its standard input ends.
attempts()
{
	cat <<-'EOF'
		way=$1 work=$2
		unshare -n sleep 3600 &
		other=$!
		until [[ $(readlink /proc/$other/ns/net) != "$(readlink /proc/self/ns/net)" ]]; do sleep 0.01; done
		for i in {1..64}; do
			echo "link add a$i type veth peer name b$i netns $other"
			echo "link set a$i up"
		done | ip -batch - || exit
		for i in {1..64}; do echo "link set b$i up"; done | nsenter -t $other -n ip -batch - || exit
		echo cables
		read -r _
		torcollctl --force -b "$work/$way.a" >/dev/null 2>&1
		nsenter -t $other -n torcollctl --force -b "$work/$way.b" >/dev/null 2>&1
		coproc COMMS { TORCOLL_FABRIC=1 exec greedy comms 2000; }
		read -r line <&"${COMMS[0]}"
		echo "$line"
		read -r _
		kill $other
	EOF
}

# In the guest, for the user, to folder $1: two nodes that are neighbours by 64 cables, each a fabric of its own, as far as they
# can have them.
batches()
{
	cat <<-'EOF'
		sides=(2 2x2 16x16 32x32 16x16x16 2x2x2x2 30x30x30) hellos=(10ms 20ms 50ms 100ms 1s 10s)
		# one end of many slow ones, of few fast ones, and whatever comes
		slow() { local i; for i in {1..32}; do one $i 2 $1 100ms; done; }
		fast() { local i; for i in 1 2 3; do one $i 2 $1 10ms; done; }
		one() {
			echo "fabric add $1 dims $2 node $3 hello $4"
			echo "port add $1 dim 0 dir plus dev $end$1"
		}
		any() {
			local i key=$((RANDOM % 64 + 1))
			case $((RANDOM % 3)) in
			0) echo "fabric add $key dims ${sides[RANDOM % 7]} node $1 hello ${hellos[RANDOM % 6]}" ;;
			*) echo "port add $key dim 0 dir plus dev $end$((RANDOM % 64 + 1))" ;;
			esac
		}
		RANDOM=1
		for way in slow fast random; do
			for node in 0 1; do
				end=a file=$1/$way.a
				((node)) && end=b file=$1/$way.b
				{
					[[ $way == random ]] && echo "fabric add 1 dims 2 node $node hello 10s" || $way $node
					for ((i = 0; i < 4000; i++)); do any $node; done
				} | head -n 4000 >"$file"
			done
		done
	EOF
}

# A line WAY LOST_PER_MILLE GROWN CHARGED COMMS FABRICS HELLOS for each way; bytes.
guest()
{
	cat <<-'EOF'
		. "$TORCOLL_TOP/selftests/lib.sh"
		# not from root's files, which the user cannot read
		work=$(mktemp -d)
		cp "$TORCOLL_RESULTS/attempts" "$work"
		bash "$TORCOLL_RESULTS/batches" "$work"
		used() { torcollctl -j limit show | jq --arg name "$1" '[.[] | select(.user == 1003) | .[$name]] | add // 0'; }
		taken() { sync; awk '/^(Slab|VmallocUsed|Percpu):/ { n += $2 } END { print n * 1024 }' /proc/meminfo; }
		gone() { [[ $(used fabrics) == 0 && $(used kernel) == 0 ]]; }
		module_load || exit
		chgrp 4242 /dev/torcoll
		chmod 777 "$work"
		for way in slow fast random; do
			coproc USER { setpriv --reuid 1003 --regid 1003 --groups 4242 unshare -Urn bash "$work/attempts" "$way" "$work"; }
			read -r line <&"${USER[0]}"
			[[ $line == cables ]] || bail "$way: no cables"
			sleep 3
			before=$(taken) most=$(greedy spin 2000)
			echo >&"${USER[1]}"
			read -r comms sentence <&"${USER[0]}"
			sleep 3
			left=$(greedy spin 2000) after=$(taken)
			charged=$(($(used tables) + $(used kernel)))
			lost=$((1000 - left * 1000 / most)) grown=$((after - before))
			echo "$way $lost $grown $charged $comms $(used fabrics) $(used hellos)" >>"$TORCOLL_RESULTS/lines"
			echo "$sentence" >>"$TORCOLL_RESULTS/sentences"
			echo >&"${USER[1]}"
			wait "$USER_PID"
			wait_for 300 gone || bail "$way: something is left"
		done
		# what lingers is paid for, too
		torcollctl limit set kernel 4M
		setpriv --reuid 1003 --regid 1003 --groups 4242 unshare -Urn bash -c \
			"torcollctl fabric add 1 dims 1 node 0 && TORCOLL_FABRIC=1 greedy lingering 2000" >"$TORCOLL_RESULTS/lingering"
	EOF
}

run_guest()
{
	attempts >"$work/attempts"
	batches >"$work/batches"
	guest >"$work/guest"
	qemu/run --cpus 1 --icount --mem 1024 --timeout 840 --results "$work" \
		--log build/log/check/vms/unprivileged.kernel.log -- bash "$work/guest"
}

work=$(mktemp -d)
ktap_header
cleanup rm -rf "$work"
check attempts__in_a_guest run_guest
diag "way, lost per mille of a processor, memory more than before, charged, comms, fabrics, hellos per second:"
diag <"$work/lines"
diag <"$work/lingering"
is attempts__of_all_kinds "$(wc -l <"$work/lines")" 3
is idle__takes_less_than_a_hundredth "$(awk '$2 > 10' "$work/lines")" ""
# devices and caches of the kernel's grow besides, and what it allocates is rounded up
is memory__is_what_is_charged "$(awk '$3 > 1.6 * $4' "$work/lines")" ""
is fabrics__no_more_than_the_limits "$(awk '$6 > 64 || $7 > 640' "$work/lines")" ""
is comms__no_more_than_the_limit "$(awk '$5 != 1024' "$work/lines")" ""
is comms__are_refused_beyond "$(grep -c "as many comms as it may have" "$work/sentences")" 3
check lingering__is_refused_beyond grep -q "may take no more kernel memory" "$work/lingering"
finish
