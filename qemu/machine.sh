# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
#
# The emulated machine by architecture: sets qemu, the program; machine, its options beside the accelerator; and kernel_words,
# for its command line. Sourced after scripts/arch.sh, never run.

# machine_of ACCELERATOR
machine_of()
{
	qemu=qemu-system-$machine_name
	case $arch in
	amd64)	machine_amd64 "$1" ;;
	arm64)	machine_arm64 ;;
	*)	die "no guests for $arch" ;;
	esac
}

machine_amd64()
{
	# QEMU 7.2 forgets the flags when it emulates cmpxchg16b: what an interrupt then saves may have NT set,
	# and its return is a double fault, once in some hundred boots. Without it the kernel takes another way.
	#
	# And it executes "rep movsb" byte by byte: a processor that announces it as fast (ERMS) has the kernel and the C library
	# copy and clear with it, at a tenth of the speed of their loops, which is nothing that any real one does.
	local cpu=max

	[[ $1 == kvm ]] || cpu+=,-cx16,-erms
	machine=(-machine q35 -cpu "$cpu")
	kernel_words="console=ttyS0 no_timer_check maxcpus=1 noreplace-smp 8250.nr_uarts=1 random.trust_cpu=on"
}

# Signing pointers as ARM specifies it is slow to emulate; any other way is as good.
machine_arm64()
{
	local cpu=max

	[[ -z $cross ]] || cpu+=,pauth-impdef=on,sme=off
	# shellcheck disable=SC2054 # commas are qemu's
	machine=(-machine virt,gic-version=max -cpu "$cpu")
	kernel_words="console=ttyAMA0 random.trust_cpu=on"
}
