#!/bin/bash
# SPDX-License-Identifier: MIT
#
# make install into a folder: what is there works from there, and make uninstall leaves nothing of it. Metadata of packages.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

root=$(mktemp -d)
nothing=$(mktemp -d)
cleanup rm -rf "$root" "$nothing"

has_files()
{
	local f bad=0

	for f; do
		[[ -s $root/$f || ${f##*/} == py.typed && -e $root/$f ]] || { echo "no $f"; bad=1; }
	done
	((!bad))
}

# Every program, page, header and document of the tree.
complete()
{
	local f list=()

	for f in build/bin/torcoll*; do
		list+=("usr/bin/${f##*/}")
	done
	for f in python/torcoll/*.py python/torcoll/py.typed; do
		list+=("usr/lib/python3/dist-packages/${f#python/}")
	done
	while read -r f; do
		list+=("usr/share/man/man${f##*.}/${f##*/}")
	done < <(find docs lib tools -name '*.[1-8]')
	for f in docs/*.md; do
		list+=("usr/share/doc/torcoll/$f")
	done
	for f in lib/examples/*.c python/examples/*.py; do
		list+=("usr/share/doc/torcoll/examples/${f##*/}")
	done
	has_files "${list[@]}" usr/include/torcoll.h usr/include/linux/torcoll.h \
		usr/include/linux/torcoll_netdev.h usr/include/linux/torcoll_netlink.h \
		usr/lib/libtorcoll.so usr/lib/libtorcoll.so.0 \
		usr/lib/libtorcoll.a usr/lib/pkgconfig/libtorcoll.pc usr/share/doc/torcoll/README.md \
		usr/share/bash-completion/completions/torcollctl usr/share/torcoll/torcoll.lua \
		usr/share/bash-completion/completions/torcollrun usr/share/zsh/site-functions/_torcollrun \
		usr/share/zsh/site-functions/_torcollctl lib/udev/rules.d/90-torcoll.rules \
		usr/lib/sysusers.d/torcoll.conf etc/security/limits.d/torcoll.conf \
		lib/systemd/system/torcoll@.service lib/systemd/system/torcoll-metrics.service \
		lib/systemd/system/torcoll-metrics.timer
}

runs()
{
	"$root/usr/bin/$1" --version
}

compiles()
{
	local flags

	export PKG_CONFIG_PATH=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
	read -ra flags < <(pkg-config --cflags --libs libtorcoll)
	# no headers but those installed
	cc -o "$root/hello" -x c - "${flags[@]}" <<-'END' && LD_LIBRARY_PATH=$root/usr/lib "$root/hello"
		#include <stdio.h>
		#include <torcoll.h>
		int main(void) { return puts(torcoll_version()) < 0; }
	END
}

# The package finds the library beside which it is installed.
python_imports()
{
	[[ $(env -u TORCOLL_LIBRARY PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/usr/lib/python3/dist-packages" /usr/bin/python3 -c \
		'import torcoll._abi; print(torcoll.__version__, torcoll._abi.load()._name)') == \
		"$(sed -n 's/^#define TOR_VERSION[[:space:]]*"\(.*\)"/\1/p' kmod/core/version.h) $root/usr/lib/libtorcoll.so.0" ]]
}

# And where PREFIX is another one, it is where python3 looks.
python_looks_there()
{
	local folder

	folder=$(make --no-print-directory -n install DESTDIR= | grep -o '[^ ]*/dist-packages/torcoll' | sort -u) &&
		/usr/bin/python3 -c 'import sys; sys.exit(sys.argv[1] not in sys.path)' "${folder%/torcoll}"
}

# DKMS gets all that the module is made of.
module_source()
{
	diff -r kmod "$root"/usr/src/torcoll-*/kmod && diff -r uapi "$root"/usr/src/torcoll-*/uapi
}

# Stated in kmod/core/version.h, and wherever it cannot be taken from there.
one_version()
{
	local version part

	version=$(sed -n 's/^#define TOR_VERSION[[:space:]]*"\(.*\)"/\1/p' kmod/core/version.h)
	[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "no version in kmod/core/version.h: $version"; return 1; }
	{
		echo "torcollctl: $(runs torcollctl | sed 's/^torcollctl //')"
		for part in MAJOR MINOR PATCH; do
			sed -n "s/^#define TORCOLL_VERSION_${part}[[:space:]]*//p" lib/torcoll.h
		done | paste -sd. | sed 's,^,lib/torcoll.h: ,'
		sed -n 's/^PACKAGE_VERSION="\(.*\)"/dkms.conf: \1/p' "$root"/usr/src/torcoll-*/dkms.conf
		sed -n 's/^Version: */libtorcoll.pc: /p' "$root/usr/lib/pkgconfig/libtorcoll.pc"
		sed -n '1s/^torcoll (\(.*\)) .*/debian\/changelog: \1/p' debian/changelog
		sed -n 's/^Version: */packaging\/torcoll.spec: /p' packaging/torcoll.spec
		sed -n 's/^pkgver=/packaging\/PKGBUILD: /p' packaging/PKGBUILD
		sed -nE 's/^## \[([0-9.]+)\] - [0-9-]+$/CHANGELOG.md: \1/p' CHANGELOG.md | head -n 1
	} | awk -v version="$version" '
		$2 != version { print $0 ", but kmod/core/version.h has " version; bad = 1 }
		END { exit bad || NR != 8 }'
}

# Documents name it in commands, and in the same words the range of kernels and those that are tested.
documents_agree()
{
	local version tested bad=0

	version=$(sed -n 's/^#define TOR_VERSION[[:space:]]*"\(.*\)"/\1/p' kmod/core/version.h)
	! grep -noE 'torcoll/[0-9]+\.[0-9]+\.[0-9]+' README.md docs/*.md | grep -vF "torcoll/$version" || bad=1
	for f in README.md docs/guide.md docs/development.md packaging/torcoll.spec debian/control kmod/Kbuild; do
		grep -q 'from 6\.1 on' <<<"$(tr -s '\n ' ' ' <"$f")" || { echo "$f: no \"from 6.1 on\""; bad=1; }
	done
	tested=$(sed -n 's/^| kernels | \(from 6.1 on; [^;|]*\)[;|].*/\1/p' README.md)
	grep -qF "${tested:-nothing}" <<<"$(tr -s '\n ' ' ' <docs/guide.md)" ||
		{ echo "docs/guide.md does not say as README.md: ${tested:-nothing}"; bad=1; }
	((!bad))
}

# What Kbuild says of kernel $1, as its own makefile names it.
kbuild_refuses()
{
	local numbers

	IFS=.-+ read -ra numbers <<<"$1"
	{ make -n -f kmod/Kbuild VERSION="${numbers[0]}" PATCHLEVEL="${numbers[1]}" KERNELVERSION="$1" src=kmod obj=kmod 2>&1 || true; } |
		grep -qF "torcoll is for kernels from 6.1 on: this is $1"
}

# The kernels for which DKMS is told to build, and for which Kbuild does.
kernel_range()
{
	local pattern kernel bad=0

	pattern=$(sed -n 's/^BUILD_EXCLUSIVE_KERNEL="\(.*\)"$/\1/p' "$root"/usr/src/torcoll-*/dkms.conf)
	[[ $pattern ]] || return
	for kernel in 6.1.0-56-amd64 6.2 6.10.1 6.12.117+deb12-amd64 7.3.4+deb13-amd64 10.0; do
		[[ $kernel =~ $pattern ]] || { echo "not by DKMS for $kernel"; bad=1; }
		! kbuild_refuses "$kernel" || { echo "not by Kbuild for $kernel"; bad=1; }
	done
	for kernel in 5.10.0-30-amd64 5.19 6.0.12 4.19.0 1.6.1; do
		[[ ! $kernel =~ $pattern ]] || { echo "by DKMS for $kernel"; bad=1; }
		kbuild_refuses "$kernel" || { echo "by Kbuild for $kernel"; bad=1; }
	done
	((!bad))
}

unit()
{
	grep -q "^ExecStart=/usr/bin/torcollctl apply /etc/torcoll/%i.conf" "$root/lib/systemd/system/torcoll@.service" &&
		grep -q 'RUN+="/usr/bin/torcollctl apply --device %k"' "$root/lib/udev/rules.d/90-torcoll.rules" &&
		grep -q "^ExecStart=/usr/bin/torcollctl stats --prometheus " "$root/lib/systemd/system/torcoll-metrics.service" &&
		! grep -r '@[A-Z]*@' "$root"/lib "$root"/etc "$root"/usr/lib/pkgconfig || return
	# it wants to see what the unit starts
	command -v systemd-analyze >/dev/null || return 0
	mkdir -p "$root/sbin" && touch "$root/sbin/modprobe" && chmod +x "$root/sbin/modprobe" || return
	mkdir -p "$root/unit" && sed -E "s,^(Exec(StartPre|Start|Reload|Stop)=-?),\\1$root," \
		"$root/lib/systemd/system/torcoll@.service" >"$root/unit/torcoll@.service" || return
	sed "s,^ExecStart=,&$root," "$root/lib/systemd/system/torcoll-metrics.service" \
		>"$root/unit/torcoll-metrics.service" &&
		cp "$root/lib/systemd/system/torcoll-metrics.timer" "$root/unit/" &&
		systemd-analyze verify --man=no "$root/unit/torcoll@.service" "$root/unit/torcoll-metrics.timer" \
			"$root/unit/torcoll-metrics.service"
}

debian_symbols()
{
	diff <(sed 's/@@/@/' selftests/abi/symbols.golden | sort) \
		<(sed -n 's/^ \([^ ]*\) .*/\1/p' debian/libtorcoll0.symbols | grep -v '^TORCOLL_' | sort)
}

rpm_and_arch()
{
	bash -n packaging/PKGBUILD && rpmspec -P packaging/torcoll.spec >/dev/null
}

# Each installed file is in a package, each pattern is for some. Debian's rpm lacks systemd's macros.
rpm_lists_all()
{
	local pattern f bad=0 listed=()

	while read -r pattern; do
		mapfile -t files < <(compgen -G "$root${pattern%/}")
		((${#files[@]})) || { echo "nothing for $pattern"; bad=1; continue; }
		mapfile -t -O "${#listed[@]}" listed < <(find "${files[@]}" ! -type d)
	done < <(rpmspec -P -D '_libdir /usr/lib' -D 'python3_sitelib /usr/lib/python3/dist-packages' -D '_unitdir /lib/systemd/system' -D '_udevrulesdir /lib/udev/rules.d' \
		-D '_sysusersdir /usr/lib/sysusers.d' packaging/torcoll.spec |
		sed -nE '/^%files/,/^%changelog/{/^%dir/d;s,^(%config\([a-z]*\) )?/,/,p}')
	((${#listed[@]})) && diff <(printf '%s\n' "${listed[@]}" | sort) \
		<(find "$root" ! -type d | sort) && ((!bad))
}

# former TREE COMMAND...: these are what is said when DKMS has that in its tree, beside our source.
former()
{
	local tree=$1

	shift
	diff <(scripts/dkms-former "$root/usr/src" "$(version)" "$tree" 2>&1 | sed -n 's/^    //p') <((($# == 0)) || printf '%s\n' "$@")
}

version()
{
	sed -n 's/^#define TOR_VERSION[[:space:]]*"\(.*\)"/\1/p' kmod/core/version.h
}

# DKMS keeps modules that it has, of the same version as well.
former_modules()
{
	local tree=$nothing/dkms

	mkdir -p "$tree/torcoll/$(version)/6.1/x86_64" && ln -s "$(version)/6.1/x86_64" "$tree/torcoll/kernel-6.1-x86_64" || return
	former "$nothing/none" && former "$tree" "dkms remove torcoll/$(version) --all" "dkms install torcoll/$(version)" || return
	mkdir -p "$tree/torcoll/0.0.1" "$root/usr/src/torcoll-0.0.1" && touch "$root/usr/src/torcoll-0.0.1/dkms.conf" &&
		former "$tree" "dkms remove torcoll/0.0.1 --all" "dkms remove torcoll/$(version) --all" \
			"rm -r $root/usr/src/torcoll-0.0.1" "dkms install torcoll/$(version)"
	local code=$?
	rm -rf "$root/usr/src/torcoll-0.0.1"
	((code == 0)) && make --no-print-directory -n install DESTDIR= | grep -q 'scripts/dkms-former'
}

# Beside ours are files of others, in the same folders and in ours.
uninstall()
{
	local other

	other=$(mktemp -d) || return
	mkdir -p "$other/usr/bin" "$other/usr/share/torcoll" "$other/usr/include/linux" "$other/empty" &&
		touch "$other/usr/bin/torcoll-mine" "$other/usr/share/torcoll/mine.lua" "$other/usr/include/linux/if.h" || return
	find "$other" ! -type d -printf '%P\n' | sort >"$other.before"
	make --no-print-directory install PREFIX=/usr DESTDIR="$other" &&
		make --no-print-directory uninstall PREFIX=/usr DESTDIR="$other" &&
		diff "$other.before" <(find "$other" ! -type d -printf '%P\n' | sort) &&
		[[ -d $other/empty && $(find "$other" -type d -name '*torcoll*') == "$other/usr/share/torcoll" ]]
	local code=$?
	rm -rf "$other" "$other.before"
	return "$code"
}

# An administrator's limits are not replaced.
limits_stay()
{
	local file=$root/etc/security/limits.d/torcoll.conf code

	echo "@torcoll - memlock 1048576" >"$file"
	make --no-print-directory install PREFIX=/usr DESTDIR="$root" && grep -q 'memlock 1048576' "$file"
	code=$?
	cp packaging/torcoll.limits "$file"
	return "$code"
}

# uninstalls STATE: by a systemctl that says so of a unit; the installed tree is a folder in a scratch folder.
uninstalls()
{
	local there=$nothing/there stage=$nothing/stage

	mkdir -p "$there" "$stage$there" "$nothing/systemd" && touch "$there/torcoll@.service" "$stage$there/torcoll@.service" || return
	printf '#!/bin/sh\n%s\n' "$1" >"$nothing/systemd/systemctl" && chmod +x "$nothing/systemd/systemctl" || return
	PATH=$nothing/systemd:$PATH scripts/uninstall "$stage"
}

refuses_units()
{
	fails_so 1 'systemctl disable --now torcoll@lab.service$' uninstalls 'echo "torcoll@lab.service loaded active exited torcoll"' &&
		[[ -e $nothing/there/torcoll@.service ]] && uninstalls true && [[ ! -e $nothing/there/torcoll@.service ]]
}

# Where python3 is not there nobody would find the package.
no_python()
{
	local out

	out=$(make --no-print-directory -n install DESTDIR= PYTHON=/nonexistent) && grep -q 'the package is left out' <<<"$out" &&
		! grep -o '[^ ]*/dist-packages[^ ]*' <<<"$out"
}

group_torcoll()
{
	command -v systemd-sysusers >/dev/null || return 0
	mkdir -p "$root/etc"
	systemd-sysusers --root="$root" "$root/usr/lib/sysusers.d/torcoll.conf" || return
	grep -q '^torcoll:' "$root/etc/group" && grep -q 'GROUP="torcoll"' "$root"/lib/udev/rules.d/*
}

# What is said to a compiler for a kernel that is configured so.
said_for()
{
	# it fails in any case, for want of the kernel's headers
	{ cc -E -Ikmod "$@" kmod/main.c 2>&1 >/dev/null || true; } |
		grep -q 'torcoll needs a kernel of 64 bits'
}

for_64_bits_only()
{
	said_for && ! said_for -DCONFIG_64BIT &&
		grep -q '^BUILD_EXCLUSIVE_CONFIG="CONFIG_64BIT"' "$root"/usr/src/torcoll-*/dkms.conf
}

# refused ASSIGNMENT...: by Kbuild, with a sentence, for a kernel with that configuration.
refused()
{
	# it fails in any case, for want of the kernel's makefiles
	{ make -f kmod/Kbuild CONFIG_MODULES=y "$@" 2>&1 || true; } | grep -q 'torcoll is for x86-64 and little-endian arm64'
}

for_two_architectures_only()
{
	refused CONFIG_RISCV=y && refused CONFIG_S390=y && refused CONFIG_ARM64=y CONFIG_CPU_BIG_ENDIAN=y &&
		! refused CONFIG_ARM64=y && ! refused CONFIG_X86_64=y &&
		grep -q '^BUILD_EXCLUSIVE_ARCH="^(x86_64|aarch64)\$"' "$root"/usr/src/torcoll-*/dkms.conf
}

# All that a group of scripts/install-deps has: as on a machine where nothing is installed.
group()
{
	ln -sf "$(type -P true)" "$nothing/dpkg-query" && PATH=$nothing:$PATH scripts/install-deps --missing "$@"
}

# emulator MACHINE PACKAGE: guests need that, and no other, on such a machine.
emulator()
{
	local code

	printf '#!/bin/sh\necho %s\n' "$1" >"$nothing/uname" && chmod +x "$nothing/uname" || return
	diff <(group guest | grep '^qemu-system') - <<<"$2"
	code=$?
	rm "$nothing/uname"
	return "$code"
}

# What debian/control wants for the build is what "make deb" installs; sequences of debhelper are in packages of other names.
build_dependencies()
{
	comm -13 <(group build deb | sort) \
		<(sed -n '/^Build-Depends:/,/^[A-Z]/s/^ \([a-z0-9-]*\).*,/\1/p' debian/control |
			sed 's/^debhelper-compat$/debhelper/; s/^dh-sequence-dkms$/dh-dkms/; s/^dh-sequence-python3$/dh-python/
				/^dh-sequence-/d' | sort) | grep . && return 1
	(($(group build deb | wc -l) > 10))
}

# What torcollrun starts, to reach other hosts.
recommendations()
{
	grep -q '\.ssh = "ssh ' tools/torcollrun/main.c && grep -qE '^Recommends:.*\bopenssh-client\b' \
		<(sed -n '/^Package: torcoll-tools$/,/^$/p' debian/control) &&
		grep -qE '^Recommends: +openssh-clients$' packaging/torcoll.spec && grep -q "'openssh: " packaging/PKGBUILD
}

ktap_header
check install make --no-print-directory install PREFIX=/usr DESTDIR="$root"
check install__complete complete
check rpm__lists_what_is_installed rpm_lists_all
for tool in build/bin/torcoll*; do
	check "runs__${tool##*/}" runs "${tool##*/}"
done
check program__compiles_against_it compiles
check python__imports python_imports
check python__is_where_it_is_looked_for python_looks_there
check module__source_is_whole module_source
check version__is_one one_version
check version__in_documents documents_agree
check module__for_its_kernels kernel_range
check unit__is_right unit
check debian__symbols debian_symbols
check guests__emulator_on_x86_64 emulator x86_64 qemu-system-x86
check guests__emulator_on_arm64 emulator aarch64 qemu-system-arm
check debian__build_dependencies_are_installed build_dependencies
check packages__recommend_ssh recommendations
check packages__of_others rpm_and_arch
check module__for_64_bits_only for_64_bits_only
check module__for_two_architectures_only for_two_architectures_only
check group__is_made group_torcoll
check dkms__former_modules_are_named former_modules
check python__is_left_out_without_python no_python
check limits__stay_as_edited limits_stay
check uninstall__refuses_units_that_are_on refuses_units
check uninstall__leaves_what_is_not_ours uninstall
finish
