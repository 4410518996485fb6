# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# The guest tests of selftests/run, which sources this. There are two guests where there is room, each of which takes the next
# test that none has taken. The first one has two processors, and takes those first whose head says "# processors: 2": what
# several contexts do at a time is what they are about. Where two for each would share two of the host's, each would wait for the
# other, at half as much work again: the second guest has one. What they and the host know of NAME lies in build/log/check/guest/:
#
#   NAME.taken/N     guest N has begun it; a folder can be made once
#   NAME.log         what it printed
#   NAME.kernel      the kernel's log of its time
#   NAME.result      how it ended: see report.sh

# ---- in the guest ----

# What a test left behind. A reference that it leaked shows here: the module stays in use, or hangs.
clean_up()
{
	local i file

	# whoever was killed could not
	for file in /sys/kernel/debug/fail*/probability; do
		[[ ! -w $file ]] || echo 0 >"$file"
	done
	ip -all netns delete 2>/dev/null
	for ((i = 0; i < 100; i++)); do
		[[ -d /sys/module/torcoll ]] || return 0
		timeout 20 rmmod torcoll 2>/dev/null
		sleep 0.1
	done
	return 1
}

# What a test left allocated, for kernels that can tell.
leaks()
{
	local leaks=/sys/kernel/debug/kmemleak

	[[ -w $leaks ]] || return 0
	# what is younger than five seconds is not reported; what is new at the first look may be under way
	sleep 5
	echo scan >$leaks
	grep -q . $leaks || return 0
	echo scan >$leaks
	ours <$leaks
	echo clear >$leaks
}

# Reports of leaks without those of Linux's own: when sysfs cannot take a slab cache, as an allocation fails, the name of its
# kobject is forgotten (mm/slub.c, sysfs_slab_add(), 6.12).
ours()
{
	awk '
		function show() {
			if (report !~ /kobject_set_name_vargs.*kobject_init_and_add.*sysfs_slab_add/)
				printf "%s", report
			report = ""
		}
		/^unreferenced object/ { show() }
		{ report = report $0 "\n" }
		END { show() }'
}

# What of a module built for it ran so far, by the name of this boot: none knows whether it ends well.
save_coverage()
{
	local from=/sys/kernel/debug/gcov to boot file

	[[ -d $from ]] || return 0
	read -r boot </proc/sys/kernel/random/boot_id
	while IFS= read -r file; do
		to=$logs/gcov/$boot/${file##*/kmod/}
		mkdir -p "${to%/*}"
		cat "$file" >"$to"
	done < <(find "$from" -path '*/kmod/*' -name '*.gcda')
}

# Is it too late to begin another test?
time_is_over()
{
	[[ -n ${TEST_SECONDS-} ]] && ((SECONDS >= TEST_SECONDS))
}

# Emulated processors take longer to start a program than most of them run: 10 ms for busybox, 80 for grep with its libraries,
# 230 for jq 1.6, which reads its own definitions first; in the debug kernel 60, 270 and 380. So tests in guests find programs
# of one file first.
quick_starts()
{
	local quick=/run/torcoll/quick name

	mkdir -p $quick
	for name in awk basename cat chmod cp cut dirname false grep head insmod ls mkdir mktemp modinfo modprobe mv pidof rm rmmod \
		sed seq sleep sort tail touch tr true uniq wc; do
		ln -sf "$(type -P busybox)" "$quick/$name"
	done
	ln -sf "$(type -P gojq)" $quick/jq
	PATH=$top/build/static:$quick:$PATH
}

# Some tests start our programs as users without rights, who may not enter the folder of the user whose clone this is: /root, say.
# What is changed here is the guest's own copy.
open_folders()
{
	local dir=$top

	while [[ $dir ]]; do
		chmod a+x "$dir"
		dir=${dir%/*}
	done
}

# The kernel's log since test $1 began. Says what the kernel complained of, and fails if it did.
complaints()
{
	dmesg | awk -v mark="torcoll-test: begin $1" 'index($0, mark) { on = 1 } on' >"$logs/$1.kernel"
	qemu/splats "$logs/$1.kernel"
}

# One test: result as that of run, with what the kernel says of it.
run_here()
{
	local splats

	echo "torcoll-test: begin $1" >/dev/kmsg
	run "$1" ktap "$(limit_of "selftests/$1.sh")" "selftests/$1.sh"
	if ! clean_up; then
		bad=$((bad + 1)) why="the module does not unload${why:+; $why}"
	fi
	if ! splats=$(complaints "$1"); then
		bad=$((bad + 1)) why="the kernel complained${why:+; $why}"
		echo "# ${splats//$'\n'/$'\n# '}" >>"$logs/$1.log"
	fi
}

# What tests $@ leaked, if anything, is a result of its own: a look takes longer than many a test.
look_for_leaks()
{
	local found name

	save_coverage
	found=$(leaks)
	[[ -n $found ]] || return 0
	name=leaks/${*: -1}
	mkdir -p "$(dirname "$logs/$name")"
	echo "$found" >"$logs/$name.log"
	leave_result "$name" "$logs" 0 1 0 0 "memory leaks in one of: $*"
}

# As guest $1, each of the other arguments that no other guest takes.
run_in_guest()
{
	local guest=$1 name unscanned=() scanned=$SECONDS

	logs=$TORCOLL_RESULTS
	quick_starts
	open_folders
	# what the boot left is not ours
	leaks >/dev/null
	for name in "${@:2}"; do
		mkdir -p "$(dirname "$logs/$name")"
		mkdir "$logs/$name.taken" 2>/dev/null || continue
		if time_is_over; then
			leave_result "$name" "$logs" 0 0 0 0 "not begun, the time is over"
			continue
		fi
		: >"$logs/$name.taken/$guest"
		run_here "$name"
		leave_result "$name" "$logs" "$ok" "$bad" "$skipped" "$seconds" "$why"
		unscanned+=("$name")
		if ((SECONDS - scanned > 180)); then
			look_for_leaks "${unscanned[@]}"
			unscanned=() scanned=$SECONDS
		fi
	done
	((${#unscanned[@]} == 0)) || look_for_leaks "${unscanned[@]}"
	# no report is worth as much as was looked at
	[[ ! -r /sys/kernel/debug/kcsan ]] ||
		sed -n 's/^setup_watchpoints: */accesses watched for races: /p' /sys/kernel/debug/kcsan
}

# ---- on the host ----

# Tests that guest $1 has begun: "NAME" each, with "+" if their result is there.
begun_by()
{
	local file name

	while IFS= read -r file; do
		name=${file%.taken/*}
		echo "${name#"$logs"/guest/}$([[ ! -e $name.result ]] || echo +)"
	done < <(find "$logs/guest" -path "*.taken/$1")
}

# Whether guest $1 counted a failed case.
counted_failure()
{
	local name bad

	while IFS= read -r name; do
		read -r _ bad _ <"$logs/guest/${name%+}.result"
		((bad == 0)) || return 0
	done < <(begun_by "$1" | grep '+$')
	return 1
}

# emulators_fault LOG: whether the guest died of what is neither the kernel's nor the module's: QEMU without virtualisation may
# run a block that it has translated before an "int3" in it was gone. The kernel then knows of none.
emulators_fault()
{
	grep -q 'Oops: int3' "$1" && ! grep -q 'RIP: 0010:.*\[torcoll\]' "$1"
}

# Guest $1 did not survive test $2: a failure, or once more if it was the emulator's, for the first time.
bury()
{
	local name=$2 log=$logs/guest/$2 splats

	if [[ ! -e $log.int3.kernel ]] && emulators_fault "$logs/guest/kernel.$1.log"; then
		mv "$logs/guest/kernel.$1.log" "$log.int3.kernel"
		rm -r "$log.taken"
		echo "once more $name: an emulated processor met a breakpoint by which the kernel changes its own code, after the change"
		echo "     log: $log.int3.kernel"
		return 0
	fi
	mv "$logs/guest/kernel.$1.log" "$log.kernel" 2>/dev/null
	splats=$(qemu/splats "$log.kernel" | head -n 14)
	echo "# ${splats//$'\n'/$'\n# '}" >>"$log.log"
	# which exception, and where: the end of a long log is all that some readers have
	leave_result "$name" "$logs/guest" 0 1 0 0 \
		"the guest did not survive it, or it did not end: $log.kernel ${splats%%$'\n'*}"
}

# boot GUEST TEST...
boot()
{
	local name limit=$((60 * slow)) environment=()

	for name in "${@:2}"; do
		limit=$((limit + $(limit_of "selftests/$name.sh") + 20))
	done
	[[ -z ${WITHIN-} ]] || environment+=(--env TEST_SECONDS="$((WITHIN * 60 - SECONDS))")
	for name in ${!CONFORMANCE_*} ${!STRESS_*}; do
		environment+=(--env "$name=${!name}")
	done
	setpriv --pdeathsig TERM qemu/run --timeout $limit --results "$logs/guest" --log "$logs/guest/kernel.$1.log" \
		--cpus "$(processors_of "$1")" --mem "$memory" --env TORCOLL_SLOW="$slow" --env KERNEL="${KERNEL-}" \
		--env MORE_SECONDS="${MORE_SECONDS:-0}" "${environment[@]}" \
		--append "$append" -- selftests/run --in-guest "$@" {running}>&- &
	mind "$1" $!
}

# Waits for guest $1, process $2; ends it where a test hangs in the kernel, out of reach of its own limit, and after selftests/run.
mind()
{
	local ticks=0

	while kill -0 "$2" 2>/dev/null; do
		sleep 1
		if ! kill -0 $$ 2>/dev/null || { ((++ticks % 60 == 0)) && is_stuck "$1"; }; then
			kill "$2"
		fi
	done
	wait "$2"
}

is_stuck()
{
	local name since

	name=$(begun_by "$1" | grep -v '+$') || return 1
	since=$(stat -c %Y "$logs/guest/$name.taken/$1") || return 1
	(($(date +%s) - since > $(limit_of "selftests/$name.sh") + 300))
}

# Guest $1 for the tests that follow; again after each that it does not survive.
keep_guest()
{
	local code victim

	while true; do
		boot "$@"
		code=$?
		victim=$(begun_by "$1" | grep -v '+$')
		[[ -n $victim ]] || break
		# one, unless it could leave no result, as on a full disk
		bury "$1" "${victim%%$'\n'*}" || break
	done
	((code == 0)) || counted_failure "$1" ||
		leave_result "kernel.$1" "$logs/guest" 0 1 0 0 "the guest ended with code $code"
}

# Guests of kernels that check themselves are for what happens at a time.
processors_of()
{
	if [[ $suite == check ]] && (($1 > 1 && $(nproc) < 4)); then
		echo 1
	else
		echo 2
	fi
}

# tests_of GUEST TEST...: those that it may take, in its order.
tests_of()
{
	local guest=$1 name

	if [[ $suite != check ]]; then
		printf '%s\n' "${@:2}"
		return
	fi
	for name in "${@:2}"; do
		! needs_processors "$name" || (($(processors_of "$guest") < 2)) || echo "$name"
	done
	for name in "${@:2}"; do
		needs_processors "$name" || echo "$name"
	done
}

needs_processors()
{
	grep -qx '# processors: 2' "selftests/$1.sh"
}

# As many guests as run at once, for $1 tests.
guests_at_once()
{
	local free

	free=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
	if (($1 < 2 || $(nproc) < 2 || free < 2 * memory + 1024)); then
		echo 1
	else
		echo "${GUESTS:-2}"
	fi
}

# What ends selftests/run ends them, and they their guests.
keepers=()

# Results that were not there at the last call.
declare -A settled=()
settle_guests()
{
	local file name

	while IFS= read -r file; do
		name=${file#"$logs"/guest/} name=${name%.result}
		[[ -z ${settled[$name]-} ]] || continue
		settled[$name]=1
		settle "$name" "$logs/guest"
	done < <(find "$logs/guest" -name '*.result')
}

# Test scripts $@ with those first whose head says "# takes: SECONDS", the longest one first: one that began last would leave a
# guest without work for as long. The others by name.
longest_first()
{
	local file takes

	for file; do
		[[ -e $file ]] || continue
		takes=$(sed -n '1,40s/^# takes: \([0-9]\+\).*/\1/p' "$file" | head -n 1)
		echo "${takes:-0} $file"
	done | sort -s -k 1,1nr | cut -d ' ' -f 2
}

run_guests()
{
	local folder f tests=()

	for folder in "${guest_folders[@]}"; do
		while read -r f; do
			wanted "$folder/${f##*/}" || continue
			tests+=("$folder/$(basename "$f" .sh)")
		done < <(longest_first "selftests/$folder"/*.sh)
	done
	((${#tests[@]})) || return
	use_guests "$(guests_at_once ${#tests[@]})" "${tests[@]}"
}

# use_guests COUNT TEST...
use_guests()
{
	local count=$1 tests=("${@:2}") f n own

	settled=()
	rm -rf "$logs/guest"
	mkdir -p "$logs/guest"
	echo "booting $( ((count == 1)) && echo a guest || echo "$count guests") with kernel ${KERNEL:-6.12} for" \
		"$( ((${#tests[@]} == 1)) && echo a test || echo "${#tests[@]} tests")"
	for ((n = 1; n <= count; n++)); do
		mapfile -t own < <(tests_of $n "${tests[@]}")
		((${#own[@]})) || continue
		keep_guest $n "${own[@]}" &
		keepers+=($!)
	done
	while (($(jobs -rp | wc -l))); do
		sleep 1
		settle_guests
	done
	keepers=()
	settle_guests
	for f in "${tests[@]}"; do
		if [[ -z ${settled[$f]-} ]]; then
			echo "FAIL $f: no guest lived to run it"
			count "$f" 0 1
		fi
	done
}
