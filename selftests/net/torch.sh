#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1200
# takes: 300
#
# The backend of torch.distributed over the module, on a torus of 2x2: every collective against a sequential oracle, types,
# operators, groups, futures, refusals, training by DDP, a cut cable, deaths. selftests/torch/torch_ranks.py is a rank.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit
ktap_header

python=/usr/bin/python3
export PYTHONPATH=$PWD/python:$PWD/build/torch PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
# Debian 13 has built PyTorch without libuv, which stores use unless told otherwise
export USE_LIBUV=0

if [[ ! -e build/torch/_torcoll_torch.so ]]; then
	skip torch "PyTorch's headers are not here (libtorch-dev), with which the backend is built"
	finish
fi
if ! $python -c 'import importlib.util; exit(importlib.util.find_spec("torch") is None)'; then
	skip torch "python3-torch is not installed"
	finish
fi
if ((TORCOLL_SLOW > 1)); then
	skip torch "to import PyTorch takes minutes here, and its calls are those of other tests"
	finish
fi

work=$(mktemp -d)
cleanup rm -rf "$work"
export CUT=$work/cut

# went CASE HOW RANKS: so many ranks end in that way, and the others as they must.
went()
{
	(($(grep -c "^$2 $1 " "$work/said") == $3)) && ! grep "^wrong $1 " "$work/said"
}

# What ddp.py prints: the losses of four ranks as those of one, to 1e-6; as good as train.py; the same weights everywhere.
same_losses()
{
	grep '^step' "$work/said" |
		awk '{ n[$2]++; d = $4 - loss[$2]; if (n[$2] == 1) loss[$2] = $4
		       else { twice++; if (d < 0) d = -d; if (d > 1.0001e-6) bad = 1; print $2, loss[$2], $4 }
		       if ($6 >= 0.95 && $2 == 150) good++ }
		     END { exit bad || twice != 16 || good != 2 }'
}

same_weights()
{
	grep '^rank . weights' "$work/said" | head -n 4 | awk '{ n++; sums += !seen[$4]++ } END { exit n != 4 || sums != 1 }'
}

nothing_left()
{
	[[ $(node 0 torcollctl -j comm show) == "[]" ]] && nothing_charged
}

# While steps go on, which do until some have been made after it.
cut_a_cable()
{
	wait_for 900 grep -q '^note: steps' "$work/said" && sleep 1 && node 0 ip link set d0p down &&
		! grep '^right cut ' "$work/said" && : >"$CUT"
}

cases=(reductions reductions_of_integers reductions_of_bool averages strided rooted gathers coalesced sparse_sums embedding
	reduce_scatters exchanges messages works chained ahead slow refusals groups monitored calls training compressed mismatch tags
	late absent mistaken lost again ddp ddp_alone killed cut)
$python -c 'import importlib.metadata as m; exit(m.version("torch").startswith("1."))' &&
	cases+=(functional_collectives coalescing batches meshes sharded checked errors)
# CASES: some of them
[[ -z ${CASES-} ]] || read -ra cases <<<"$CASES"

torus_up 2x2 "${patient[@]}"
stamps_up || bail "no times of packets"
check device__on_all_nodes ip_up 4 || bail "no network device"
: >"$work/said"
cut_a_cable &
cutter=$!
$python -X faulthandler selftests/torch/torch_ranks.py "${cases[@]}" 2>&1 | tee -a "$work/said" | diag
# it has cut, unless the ranks did not come so far
kill $cutter 2>/dev/null
wait $cutter
[[ " ${cases[*]} " != *" cut "* ]] || check cut__in_the_midst test -e "$CUT"
for name in "${cases[@]}"; do
	if [[ $name == killed ]]; then
		check right__killed went killed right 3
		check dies__killed went killed killed 1
	else
		check "right__$name" went "$name" right 4
	fi
done
if [[ -z ${CASES-} ]]; then
	check ddp__losses_of_one_process same_losses
	check ddp__equal_weights same_weights
fi
eventually nothing__left 10 nothing_left
finish
