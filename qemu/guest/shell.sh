#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What "make shell" runs in its guest: a torus, and a shell in its node 0.

set -uo pipefail
shape=${SHAPE:-4x4}

load-module && torcollctl netns up "$shape" ||
	echo "The torus is not up; here is a shell all the same."

cat <<EOF

A $shape torus in Linux $(uname -r); this shell is in its node 0. Some things to try:

  torcollctl fabric show                            this node and its fabric
  torcollctl port show                              its cables
  torcollctl netns run torcoll-perf allreduce       a benchmark on all nodes
  torcollctl netns exec 5 bash                      over to node 5; exit leads back
  ip link set d0p down                              pull a cable; docs/failures.md has more to break
  exit                                              ends the guest; nothing is kept

EOF
# For shells in other nodes, too. The guest's files are gone with it.
cat >~/.bashrc <<END
PS1='node \$(ip netns identify | sed "s/.*-//") of $shape \w # '
. "$TORCOLL_TOP/tools/bash-completion/torcollctl"
END
inside=()
if ip netns list 2>/dev/null | grep -q .; then
	inside=(torcollctl netns exec 0)
fi
"${inside[@]}" bash -i

# Whatever the last command in the shell was, the guest did what it was asked for.
exit 0
