#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1200
#
# Emulated network cards, with their own drivers: a ring of guests, each with another model, does allreduces over cables that
# lose a hundredth of the frames; and those that take long frames do so with these. igb takes QEMU 8. Devices have one queue, as the
# sockets have between them: one with several is in net/devices.sh.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

# Model, its driver, and what port show says of copies.
models()
{
	cat <<-'EOT'
		virtio-net	virtio_net	gather
		e1000e		e1000e		none
		igb		igb		none
		vmxnet3		vmxnet3		none
		rtl8139		8139cp		none
		usb-net		cdc_ether	gather
	EOT
}

# ---- in the guests ----

devices()
{
	local pair dev

	for pair in $TORCOLL_DEVICES; do
		dev=${pair#*=}
		tc qdisc add dev "$dev" root netem loss 1% || return
		basename "$(readlink "/sys/class/net/$dev/device/driver")"
	done
}

all_done()
{
	local n

	for ((n = 0; n < TORCOLL_SIZE; n++)); do
		[[ -s $TORCOLL_RESULTS/node-$n/code ]] || return 1
	done
}

# They stay until all are through: they forward each other's frames.
in_guest()
{
	local own=$TORCOLL_RESULTS/node-$TORCOLL_NODE code=0

	devices >"$own/drivers" || exit
	torcollctl -j port show >"$own/ports" || exit
	TORCOLL_COMM=devices torcoll-perf allreduce -b 8 -e 256K -f 8 -d f32 -o sum -n 3 -w 1 || code=$?
	torcollctl -j stats >"$own/stats" || exit
	echo $code >"$own/code.new" && mv "$own/code.new" "$own/code"
	wait_for 300 all_done
	exit $code
}

# ---- on the host ----

# ring NAME MTU MODELS
ring()
{
	local models

	IFS=, read -ra models <<<"$3"
	rm -rf "${work:?}"/node-*
	qemu/torus --timeout 700 --results "$work" --logs "build/log/check/vms/devices-$1" --nic "$3" --env TORCOLL_MTU="$2" \
		"${#models[@]}" selftests/vms/devices.sh in_guest
}

# said_of NODE DRIVER COPIES MTU
said_of()
{
	local own=$work/node-$1

	[[ $(sort -u "$own/drivers") == "$2" ]] || { cat "$own/drivers"; return 1; }
	jq -e --arg copies "$3" "length == 2 and all(.[]; .state == \"up\" and .mtu == $4 and ((.copies // \"none\") | test(\$copies)))" \
		"$own/ports" >/dev/null || { cat "$own/ports"; return 1; }
}

sent_again()
{
	jq -n '[inputs | .. | objects | .tx_retransmits? | numbers] | add' "$work"/node-*/stats
}

# judge MTU MODELS: what the nodes of the last ring have left.
judge()
{
	local node=0 model driver copies list

	IFS=, read -ra list <<<"$2"
	for model in "${list[@]}"; do
		read -r _ driver copies < <(models | grep "^$model"$'\t')
		check "mtu_$1__${model}__as_the_driver_is" said_of $node "$driver" "$copies" "$1"
		is "mtu_$1__${model}__allreduce_with_loss" "$(cat "$work/node-$node/code")" 0
		((node += 1))
	done
	check "mtu_$1__some_was_sent_again" test "$(sent_again)" -gt 0
}

[[ ${1-} != in_guest ]] || in_guest

work=$(mktemp -d)
ktap_header
cleanup rm -rf "$work"
qemu=qemu-system-$(uname -m)
known=$("$qemu" -device help 2>&1)
short="" long=""
while read -r model _; do
	if ! grep -q "^name \"$model" <<<"$known"; then
		skip "$model" "this QEMU ($("$qemu" --version | sed -n '1s/.*version \([^ ]*\).*/\1/p')) has no such device"
		continue
	fi
	short+=${short:+,}$model
	case $model in
	virtio-net|e1000e|igb|vmxnet3) long+=${long:+,}$model ;;
	esac
done < <(models)
check mtu_1500__ring_of_all ring all 1500 "$short"
judge 1500 "$short"
check mtu_9000__ring_of_those_that_can ring long 9000 "$long"
judge 9000 "$long"
finish
