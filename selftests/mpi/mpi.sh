# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# For tests that start programs of Open MPI on nodes in network namespaces; sourced after lib.sh.

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Between ranks of a host Open MPI 5 has nothing by TCP, unless that is lo's.
# shellcheck disable=SC2034 # the sourcing script uses it
mpi_btls=tcp,self mpi_series=4
if [[ $(ompi_info --version 2>/dev/null) == *v5* ]]; then
	# shellcheck disable=SC2034
	mpi_btls=tcp,sm,self mpi_series=5
fi

# Puts the component among those of Open MPI, in a guest, whose writes are gone with it. Open MPI 5 would pass a path of components
# on to PMIx, which complains of all that is not its own.
mpi_component()
{
	cp "$TORCOLL_TOP/build/mpi/mca_coll_torcoll.so" "$(ompi_info --path pkglibdir --parsable | cut -d : -f 3)"
}

# mpi_hosts RANKS NODES [SERIES]: so many ranks, dealt out to so many nodes: the first ones have one more. Open MPI 5 takes addresses,
# and then does not find what it has started there: it gets names.
mpi_hosts()
{
	local n host hosts=""

	for ((n = 0; n < $2; n++)); do
		host=10.7.0.$((n + 1))
		[[ ${3-} != 5 ]] || host=node$n
		hosts+=,$host:$(($1 / $2 + (n < $1 % $2)))
	done
	echo "${hosts#,}"
}

# mpi_run RANKS NODES [mpirun's ARGUMENT]... PROGRAM [ARGUMENT]...: by torcoll. Messages, and all of mpirun's own, go over tor0.
# mpirun 5.0 tells its processes PMIx's path of components, where they find none.
mpi_run()
{
	local ranks=$1 nodes=$2 options=()

	shift 2
	while [[ $1 == -* ]]; do
		case $1 in
		--mca)	options+=("${@:1:3}"); shift 3 ;;
		*)	options+=("${@:1:2}"); shift 2 ;;
		esac
	done
	torcollctl netns exec 0 unshare --uts bash -c 'hostname node0; exec "$@"' - mpirun.openmpi \
		--host "$(mpi_hosts "$ranks" "$nodes" "$mpi_series")" -n "$ranks" --map-by slot --bind-to none \
		--mca plm_rsh_agent "$TORCOLL_TOP/selftests/mpi/rsh" --mca plm_rsh_no_tree_spawn 1 \
		--mca orte_tmpdir_base /tmp --mca pml ob1 --mca btl "$mpi_btls" --mca btl_tcp_if_include tor0 \
		--mca oob_tcp_if_include tor0 --mca mpi_yield_when_idle 1 \
		--mca coll_torcoll_enable 1 --mca coll_torcoll_verbose 1 "${options[@]}" \
		env -u OMPI_MCA_mca_base_component_path "$@"
}

# mpich_run RANKS NODES PROGRAM [ARGUMENT]...: by MPICH, with the library before it, or what $TORCOLL_MPI_LIBRARY says; UCX's
# messages go over tor0 as well. MPICH waits by polling, for which ranks that share a processor must yield. When a rank dies the
# others go on, to see what they say.
mpich_run()
{
	local library=${TORCOLL_MPI_LIBRARY-$TORCOLL_TOP/build/mpi/libtorcoll-mpi.so}

	ip netns exec tor-0 unshare --uts bash -c 'hostname node0; exec "$@"' - \
		env UCX_TLS=tcp,self UCX_NET_DEVICES=tor0 mpirun.mpich -launcher ssh \
		-launcher-exec "$TORCOLL_TOP/selftests/mpi/rsh" -iface tor0 -disable-auto-cleanup \
		-hosts "$(mpi_hosts "$1" "$2")" -n "$1" \
		env TORCOLL_MPI_VERBOSE=1 LD_PRELOAD="$library:$TORCOLL_TOP/build/bench/yield.so" "${@:3}"
}
