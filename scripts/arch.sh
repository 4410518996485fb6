# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
#
# For which architecture is built and tested: $ARCH as Debian names it, amd64 or arm64, by default that of this
# machine. Sourced after common.sh, never run.

case $(uname -m) in
x86_64)		host_arch=amd64 ;;
aarch64)	host_arch=arm64 ;;
*)		host_arch=$(uname -m) ;;
esac
arch=${ARCH:-$host_arch}
# What the compiler and qemu call it, and the kernel's makefiles.
case $arch in
amd64)		machine=x86_64 kernel_arch=x86 ;;
arm64)		machine=aarch64 kernel_arch=arm64 ;;
s390x)		machine=s390x kernel_arch=s390 ;;
*)		die "no ARCH $arch: amd64, arm64, and s390x for unit tests" ;;
esac
# Where this machine is another one.
cross=""
[[ $arch == "$host_arch" ]] || cross=$machine-linux-gnu-
# Everything made for another architecture lies beside what is made for this one.
build=build${cross:+/$arch}

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
