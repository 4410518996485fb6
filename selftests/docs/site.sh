#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
#
# The site of the documents: it builds, its links lead somewhere, it needs no network, it has what the sources have, and its
# scripts do what they say, in a browser without a window. Part of "make check-docs" only: a browser is a large package.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit
export LC_ALL=C.UTF-8

html=$TORCOLL_TOP/build/docs/html
scratch=$(mktemp -d) || exit
cleanup rm -rf "$scratch"

builds()
{
	make --no-print-directory docs
}

# A site with one link that leads nowhere, one without its anchor, and a font from elsewhere.
finds_bad_links()
{
	mkdir "$scratch/bad" && cat >"$scratch/bad/index.html" <<-'END' && ! selftests/docs/links.py "$scratch/bad" >"$scratch/out" &&
		<html lang="en"><link rel="stylesheet" href="https://fonts.example/a.css">
		<a href="gone.html">1</a><a href="#gone">2</a><img src="index.html"></html>
	END
		grep -q 'loads https' "$scratch/out" && grep -q 'gone.html leads nowhere' "$scratch/out" &&
		grep -q '#gone: no such place' "$scratch/out" && grep -q 'no name: picture' "$scratch/out"
}

# Nothing that a browser would fetch, in style sheets and in the theme's script for pages of this language.
no_network()
{
	! grep -rnoE "(@import|url\()[ \"']*(https?:)?//[^)]{0,60}" "$html" --include='*.css' &&
		! grep -rnoE '(fetch|importScripts)\("https?:[^"]*' "$html" --include='*.js' &&
		! grep -rqE '<(link|script)[^>]*fonts\.g' "$html" --include='*.html'
}

# has PAGE: those of stdin that the page does not name.
has()
{
	local what n=0 bad=0

	while read -r what; do
		n=$((n + 1))
		grep -qF -- "$what" "$html/$1" || { echo "$1 has no $what"; bad=1; }
	done
	((n && !bad))
}

manual_pages()
{
	local f n=0 bad=0

	while read -r f; do
		n=$((n + 1))
		[[ -s $html/reference/man/${f##*/}.html ]] || { echo "no page of ${f##*/}"; bad=1; }
	done < <(find docs lib tools -name '*.[1-8]')
	((n > 80 && !bad))
}

functions()
{
	sed 's/@.*//' selftests/abi/symbols.golden | has reference/functions.html
}

structs()
{
	sed -nE 's/^struct (torcoll_[a-z_]+) \{/struct \1/p' lib/torcoll.h uapi/linux/torcoll.h | has reference/structs.html
}

values()
{
	sed -nE 's/^\t(TORCOLL_[A-Z0-9_]+),.*/\1/p' uapi/linux/torcoll.h | has reference/types.html
}

errnos()
{
	sed -nE 's/^ \*\t(E[A-Z0-9]+)[\t,].*/\1/p' uapi/linux/torcoll.h | has reference/errors.html
}

counters()
{
	sed -nE 's/.*\[TOR_C_[A-Z_]+\] = "([a-z_]+)".*/\1/p' kmod/core/counter.c | has reference/counters.html
}

tracepoints()
{
	sed -nE 's/^(TRACE_EVENT\(|DEFINE_EVENT\([a-z_]+, )([a-z_]+),.*/\2/p' kmod/trace.h | has reference/tracepoints.html
}

netlink()
{
	sed -nE 's/^ +name: ([a-z0-9-]+)$/\1/p' uapi/torcoll.yaml | grep -vx pad | has reference/netlink.html
}

# Every object of torcollctl, and all that a usage begins with.
commands()
{
	build/bin/torcollctl --help | sed -nE '/^Objects/,/^$/s/^  ([a-z]+) .*/>\1/p' | has reference/commands.html
}

# seen PAGE OPTION...: as a browser has it when its scripts have run, without the network and without files of other pages.
seen()
{
	timeout 120 chromium-headless-shell --no-sandbox --disable-gpu --user-data-dir="$scratch/browser" --proxy-server=127.0.0.1:9 \
		--virtual-time-budget="${BUDGET:-10000}" --dump-dom "${@:2}" "file://$1" 2>"$scratch/browser.log" || tail -n 3 "$scratch/browser.log"
}

search()
{
	seen "$html/index.html?q=premulsum" >"$scratch/dom" && grep -q 'search-result__title">Types, operators, algorithms' "$scratch/dom" &&
		grep -q 'search-result__title">torcoll_types(3)' "$scratch/dom"
}

# same GOT WANTED
same()
{
	[[ $1 == "$2" ]] || { diff <(echo "$1") <(echo "$2"); return 1; }
}

# text ID: of that element of the page seen last.
text()
{
	sed -nE 's/.*id="'"$1"'"[^>]*>([^<]*)<.*/\1/p' "$scratch/dom"
}

# A ring of three: after two of four rounds each rank has one block complete; of the others one sum of two, and its own.
step_of_a_ring()
{
	seen "$html/stepper/index.html#3/allreduce/ring/2/1" >"$scratch/dom" &&
		same "$(text round)" 'before round 3 of 4' &&
		same "$(text said)" 'The arrows are what is sent now: 6 messages of 24 of 144 elements, stored; all between neighbours.' &&
		same "$(text complete)" '0 of 3 ranks have all of their result.' &&
		same "$(grep -o '<tbody.*</tbody>' "$scratch/dom" | sed 's/<[^>]*>/ /g; s/  */ /g; s/^ //')" \
			'0 1 to 3 of 3 0 1 2 of 3 1 2 1 to 3 of 3 2 '
}

# Nodes, cables and arrows of the picture.
picture_of_a_ring()
{
	(($(grep -o 'data-rank="' "$scratch/dom" | wc -l) == 3 && $(grep -o 'class="cable"' "$scratch/dom" | wc -l) == 3 &&
		$(grep -o 'class="arrow copies"' "$scratch/dom" | wc -l) == 6))
}

last_step()
{
	seen "$html/stepper/index.html#4x4/allreduce/bibucket/8/5" >"$scratch/dom" &&
		same "$(text round)" 'after the last of 8 rounds' && same "$(text complete)" '16 of 16 ranks have all of their result.'
}

unknown_plan()
{
	seen "$html/stepper/index.html#1000/nothing/nobody/9/9" >"$scratch/dom" && grep -q '<option value="4x4"' "$scratch/dom" &&
		[[ -n $(text complete) ]]
}

# Two rounds on and one back, the next rank, to the end and one back.
keys()
{
	cp -r "$html/stepper" "$scratch/keys" && sed 's|</body>|<script>setTimeout(() => {\
		for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft", "n", "End", "ArrowLeft"])\
			document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));\
		}, 3000);</script>&|' "$html/stepper/index.html" >"$scratch/keys/index.html" || return
	seen "$scratch/keys/index.html#3/allreduce/ring/0/0" >"$scratch/dom" &&
		same "$(text round)" 'before round 4 of 4' && same "$(text rank)" 'rank 1'
}

# What a user opens: a dump as torcoll-plan prints it.
dump()
{
	{
		echo '<p id="out"></p><script src="plan.js"></script><script>const dump = `'
		build/bin/torcoll-plan --dims 5x3 -a swing-bw
		echo '`; const plan = read_dump(dump); plan.go(plan.rounds.length);'
		# shellcheck disable=SC2016 # of JavaScript
		echo 'document.getElementById("out").textContent = `${plan.complete()} of ${plan.ranks}`;</script>'
	} >"$scratch/keys/dump.html"
	seen "$scratch/keys/dump.html" >"$scratch/dom" && same "$(text out)" '15 of 15'
}

# In the browser, by what each rank holds at the end.
all_plans()
{
	cp -r "$html/stepper" "$scratch/" && cp selftests/docs/all_plans.html "$scratch/stepper/" &&
		BUDGET=120000 seen "$scratch/stepper/all_plans.html" >"$scratch/dom" || return
	text out
	[[ $(text out) =~ ^[0-9]{3,}' plans, 0 wrong ' ]]
}

# One element less of one message: some rank's result is not complete.
finds_a_bad_plan()
{
	local plans=$scratch/stepper/plans

	/usr/bin/python3 - "$plans/3-allreduce.js" <<-'END' || return
		import base64, json, re, sys, zlib
		text = open(sys.argv[1]).read()
		packed = re.search(r', "(.*)"', text)[1]
		plans = json.loads(zlib.decompress(base64.b64decode(packed)))
		plans["ring"]["rounds"][-1][8] -= 1
		packed = base64.b64encode(zlib.compress(json.dumps(plans).encode())).decode()
		open(sys.argv[1], "w").write(f'plans("3/allreduce", "{packed}");\n')
	END
	BUDGET=120000 seen "$scratch/stepper/all_plans.html" >"$scratch/dom" || return
	text out
	[[ $(text out) == *' plans, 1 wrong 3 allreduce ring' ]]
}

# accessible PAGE OPTION...: nothing that axe-core complains about, as the page is with those options of the browser.
accessible()
{
	local page=$1 copy

	shift
	copy=$html/${page%.html}.axe.html
	sed "s|</body>|<script src=\"file://$axe\"></script><script>setTimeout(() => axe.run(document, { resultTypes: [\"violations\"] })\
		.catch((e) => ({ violations: [{ id: e.message, nodes: [] }] })).then((found) => {\
			const out = document.createElement(\"pre\");\
			out.id = \"axe\";\
			out.textContent = found.violations.map((v) => \`\${v.id}: \${v.help}: \${v.nodes.map((n) => n.target).join(\", \")}\`)\
				.join(\" \") \|\| \"nothing\";\
			document.body.append(out);\
		}), 2000);</script>&|" "$html/$page" >"$copy" || return
	BUDGET=30000 seen "$copy" "$@" >"$scratch/dom"
	rm -f "$copy"
	same "$(text axe)" nothing
}

# A picture without a description, and text that is hardly to be told from what is behind it.
finds_inaccessible()
{
	local page=bad.axe-test.html

	printf '%s\n' '<!doctype html><html lang="en"><title>x</title><body><main><h1>x</h1><img src="pictures/house.svg">' \
		'<p style="color:#ddd;background:#fff">hardly seen</p></main></body></html>' >"$html/$page"
	! accessible "$page" >"$scratch/out" && grep -q 'image-alt' "$scratch/dom" && grep -q 'color-contrast' "$scratch/dom"
	local code=$?
	rm -f "$html/$page"
	return "$code"
}

ktap_header
check site__builds builds
check links__lead_somewhere selftests/docs/links.py "$html"
check links__bad_ones_are_found finds_bad_links
check site__needs_no_network no_network
for what in manual_pages functions structs values errnos counters tracepoints netlink commands; do
	check "reference__$what" "$what"
done
check search__of_files search
check stepper__step_of_a_ring step_of_a_ring
check stepper__picture_of_a_ring picture_of_a_ring
check stepper__last_step last_step
check stepper__unknown_plan unknown_plan
check stepper__keys keys
check stepper__opens_a_dump dump
check stepper__all_plans_are_right all_plans
check stepper__a_wrong_plan_is_found finds_a_bad_plan
if axe=$(scripts/axe 2>"$scratch/axe"); then
	for page in index start guide/index guide/wire guide/bad-cable concepts/terms concepts/failures reference/commands reference/functions \
		reference/types reference/structs reference/man/torcollctl.8 internals/design stepper stepper/index; do
		check "accessible__$page" accessible "$page.html"
		check "accessible__${page}_dark" accessible "$page.html" --blink-settings=preferredColorScheme=0
	done
	check accessible__bad_ones_are_found finds_inaccessible
else
	skip accessible "$(tail -n 1 "$scratch/axe")"
fi
finish
