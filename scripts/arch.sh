# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
#
# For which architecture is built and tested: $ARCH as Debian names it, amd64 or arm64, by default that of this
# machine. Sourced after common.sh, never run.

case $(uname -m) in
x86_64)		host_arch=amd64 ;;
aarch64)	host_arch=arm64 ;;
*)		host_arch=$(uname -m) ;;
esac

# set_arch ARCHITECTURE: what it is called by the compiler and qemu, and by the kernel's makefiles; where what is made for
# it lies; and the prefix of its compiler, where this machine is another one.
set_arch()
{
	arch=$1 cross="" build=build
	case $arch in
	amd64)		machine_name=x86_64 kernel_arch=x86 ;;
	arm64)		machine_name=aarch64 kernel_arch=arm64 ;;
	s390x)		machine_name=s390x kernel_arch=s390 ;;
	*)		die "no ARCH $arch: amd64, arm64, and s390x for unit tests" ;;
	esac
	# for this machine's own, the kernel's makefiles had better find none
	unset ARCH
	if [[ $arch != "$host_arch" ]]; then
		cross=$machine_name-linux-gnu- build=build/$arch
		export ARCH=$arch
	fi
}

# set_arch_of KERNEL: kernels are named 6.12 or 6.12-arm64; a release ends in its architecture anyway. In version is left
# what scripts/kernel takes.
set_arch_of()
{
	version=$1
	case $version in
	*-amd64*)	set_arch amd64 ;;
	*-arm64*)	set_arch arm64 ;;
	esac
	[[ ! $version =~ ^([0-9]+\.[0-9]+(-rt)?)-(amd64|arm64)$ ]] || version=${BASH_REMATCH[1]}
}

set_arch "${ARCH:-$host_arch}"

# Makes apt see the packages of $arch, by lists and a state of its own in the cache: this machine's stay as they are, and
# need not be root's.
foreign_apt()
{
	local apt=$cache/apt-$arch

	[[ -n $cross ]] || return 0
	mkdir -p "$apt"/{lists,archives}/partial
	: >"$apt/status"
	cat >"$apt/apt.conf" <<-END
		APT::Architecture "$arch";
		#clear APT::Architectures;
		APT::Architectures "$arch";
		Dir::State::Lists "$apt/lists";
		Dir::State::status "$apt/status";
		Dir::Cache "$apt";
		APT::Sandbox::User "root";
		Acquire::Languages "none";
	END
	export APT_CONFIG=$apt/apt.conf
	compgen -G "$apt/lists/*Packages*" >/dev/null || {
		say "  fetching apt's package lists for $arch"
		apt-get -qq update >&2
	}
}
