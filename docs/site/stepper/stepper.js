// SPDX-License-Identifier: MIT
/*
 * The controls: which plan, which of its rounds, which rank. All of it is in the address behind #, so that every view has one:
 * #4x4/allreduce/bibucket/3/5 is what each rank holds after three rounds, and rank 5 in numbers.
 */
"use strict";

const at = (id) => document.getElementById(id);
const view = { plan: null, picture: null, timer: 0, loaded: new Map() };

/* ---- plans, each file with those of a shape and collective: it calls plans() ---- */

function plans(name, packed) {
	view.loaded.get(name)(packed);
}

async function unpack(text) {
	const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));

	return JSON.parse(await new Response(stream).text());
}

function load(shape, collective) {
	const name = `${shape}/${collective}`;

	if (!view.loaded.has(name)) {
		let done;
		const got = new Promise((resolve, reject) => {
			const script = document.createElement("script");

			done = resolve;
			script.src = `plans/${shape}-${collective}.js`;
			script.onerror = () => reject(new Wrong(`there is no ${script.src}`));
			document.head.append(script);
		});

		view.loaded.set(name, done);
		view.loaded.set(`${name} plans`, got.then(unpack));
	}
	return view.loaded.get(`${name} plans`);
}

/* ---- words ---- */

const GOALS = {
	"allreduce": "every rank ends with the sum of all vectors",
	"barrier": "no rank continues before all have called; the plan is that of an allreduce",
	"reduce-scatter": "each rank ends with its block of the sum of all vectors",
	"allgather": "each rank has a block, and all end with all blocks",
	"broadcast": "rank 0 has the vector, and all end with it",
	"reduce": "rank 0 ends with the sum of all vectors",
	"gather": "each rank has a block, and rank 0 ends with all blocks",
	"scatter": "rank 0 has the vector, and each rank ends with its block",
	"alltoall": "each rank has a block for every other; colours are those of the ranks that blocks come from",
	"scan": "each rank ends with the sum of the vectors of the ranks up to itself",
	"exscan": "each rank ends with the sum of the vectors of the ranks before it",
	"halo": "each rank exchanges a block with each neighbour; colours are those of the ranks that blocks come from",
};

function plural(n, word) {
	return `${n} ${word}${n === 1 ? "" : "s"}`;
}

/* What the messages of a round are like. */
function describe(messages) {
	const plan = view.plan, sums = messages.filter((m) => m.add).length;
	const lengths = [...new Set(messages.map((m) => m.n))].sort((a, b) => a - b);
	const hops = Math.max(0, ...messages.map((m) => view.picture.way(m.src, m.dst).hops));

	if (!messages.length)
		return "ranks move data locally";
	const range = lengths.length > 1 ? `${lengths[0]} to ${lengths[lengths.length - 1]}` : lengths[0];
	const done = sums === messages.length ? "added to what is there" :
		sums ? `${sums} of them added, the others stored` : "stored";
	const way = hops > 1 ? `the longest way is ${hops} cables` : "all between neighbours";

	return `${plural(messages.length, "message")} of ${range} of ${plan.count} elements, ${done}; ${way}`;
}

function say() {
	const plan = view.plan, round = plan.round, last = plan.rounds.length;
	const complete = plan.complete();

	at("goal").textContent = `${plan.collective} by ${plan.algorithm} on ${plan.dims.join("x")}: ${GOALS[plan.collective] ?? ""}.`;
	at("round").textContent = round === last ? `after the last of ${plural(last, "round")}` : `before round ${round + 1} of ${last}`;
	at("said").textContent = round === last ? "Nothing is sent any more." :
		`The arrows are what is sent now: ${describe(plan.messages(round))}.`;
	at("complete").textContent = `${complete} of ${plan.ranks} ranks have all of their result.`;
}

/* ---- numbers of a rank ---- */

function numbers() {
	const plan = view.plan, rank = view.picture.chosen, rows = new Map();

	for (const run of plan.runs(rank)) {
		if (!rows.has(run.block))
			rows.set(run.block, []);
		rows.get(run.block).push(run);
	}
	at("rank").textContent = `rank ${rank}`;
	at("numbers").replaceChildren(...[...rows].map(([block, runs]) => {
		const row = document.createElement("tr"), most = plan.wanted(rank);
		const least = Math.min(...runs.map((r) => r.contributions)), top = Math.max(...runs.map((r) => r.contributions));
		const cells = [block, least === top ? `${top} of ${most}` : `${least} to ${top} of ${most}`,
			[...new Set(runs.filter((r) => r.contributions).map((r) => r.colour))].join(", ") || "-"];

		for (const cell of cells) {
			const td = document.createElement("td");

			td.textContent = cell;
			row.append(td);
		}
		row.firstChild.style.borderLeft = `.6em solid ${view.picture.colour(runs[0].colour < 0 ? block : runs[0].colour)}`;
		if (!plan.has_result(rank, block))
			row.className = "beside";
		return row;
	}));
}

/* ---- moving ---- */

function show() {
	const plan = view.plan;

	view.picture.draw(plan.round < plan.rounds.length ? plan.messages(plan.round) : []);
	at("slider").max = plan.rounds.length;
	at("slider").value = plan.round;
	at("slider").setAttribute("aria-valuetext", `${plan.round} of ${plan.rounds.length} rounds done`);
	say();
	numbers();
	if (view.named)
		history.replaceState(null, "", `#${view.named}/${plan.round}/${view.picture.chosen}`);
}

function go(round) {
	view.plan.go(Math.max(0, Math.min(round, view.plan.rounds.length)));
	show();
}

function pause() {
	clearInterval(view.timer);
	view.timer = 0;
	at("play").textContent = "Play";
}

function play() {
	if (view.timer) {
		pause();
		return;
	}
	if (view.plan.round === view.plan.rounds.length)
		go(0);
	at("play").textContent = "Pause";
	view.timer = setInterval(() => {
		go(view.plan.round + 1);
		if (view.plan.round === view.plan.rounds.length)
			pause();
	}, 2200 - 200 * at("speed").value);
}

function choose(rank) {
	view.picture.chosen = Math.max(0, Math.min(rank, view.plan.ranks - 1));
	show();
}

function use(plan, named, round, rank) {
	pause();
	view.plan = plan;
	view.named = named;
	view.picture = new Picture(at("picture"), plan, Math.max(0, Math.min(rank, plan.ranks - 1)));
	at("wrong").textContent = "";
	go(round);
}

/* ---- choosing ---- */

function options(select, names, wanted) {
	select.replaceChildren(...names.map((name) => new Option(name, name)));
	select.value = names.includes(wanted) ? wanted : names[0];
}

async function open_named(shape, collective, algorithm, round = 0, rank = 0) {
	options(at("shape"), Object.keys(INDEX), shape ?? "4x4");
	options(at("collective"), Object.keys(INDEX[at("shape").value]), collective ?? "allreduce");
	options(at("algorithm"), INDEX[at("shape").value][at("collective").value], algorithm ?? "bibucket");
	const [s, c, a] = ["shape", "collective", "algorithm"].map((id) => at(id).value);

	use(new Plan((await load(s, c))[a]), `${s}/${c}/${a}`, round, rank);
}

function open_address() {
	const [shape, collective, algorithm, round, rank] = decodeURIComponent(location.hash.slice(1)).split("/");

	return open_named(shape || undefined, collective, algorithm, Number(round) || 0, Number(rank) || 0);
}

function complain(error) {
	pause();
	at("wrong").textContent = `This cannot be shown: ${error.message}.`;
}

function chosen() {
	open_named(at("shape").value, at("collective").value, at("algorithm").value, 0, view.picture?.chosen ?? 0).catch(complain);
}

async function open_file(file) {
	try {
		use(read_dump(await file.text()), "", 0, 0);
	} catch (error) {
		complain(error);
	}
}

const KEYS = {
	" ": play,
	"ArrowRight": () => go(view.plan.round + 1),
	"ArrowLeft": () => go(view.plan.round - 1),
	"Home": () => go(0),
	"End": () => go(view.plan.rounds.length),
	"n": () => choose(view.picture.chosen + 1),
	"p": () => choose(view.picture.chosen - 1),
};

function key(event) {
	const own = /^(SELECT|INPUT|BUTTON|A)$/.test(event.target.tagName);

	if (event.ctrlKey || event.altKey || event.metaKey || !view.plan || !KEYS[event.key])
		return;
	/* fields have meanings of their own for the others */
	if (own && event.key !== "n" && event.key !== "p")
		return;
	event.preventDefault();
	KEYS[event.key]();
}

function dark(is) {
	document.documentElement.dataset.theme = is ? "dark" : "light";
	at("dark").setAttribute("aria-pressed", is);
}

function begin() {
	for (const id of ["shape", "collective", "algorithm"])
		at(id).addEventListener("change", chosen);
	at("play").addEventListener("click", play);
	at("back").addEventListener("click", () => go(view.plan.round - 1));
	at("on").addEventListener("click", () => go(view.plan.round + 1));
	at("slider").addEventListener("input", () => go(Number(at("slider").value)));
	at("file").addEventListener("change", () => at("file").files[0] && open_file(at("file").files[0]));
	at("picture").addEventListener("click", (event) => {
		const node = event.target.closest("[data-rank]");

		if (node)
			choose(Number(node.dataset.rank));
	});
	at("dark").addEventListener("click", () => dark(document.documentElement.dataset.theme !== "dark"));
	document.addEventListener("keydown", key);
	window.addEventListener("hashchange", () => open_address().catch(complain));
	dark(matchMedia("(prefers-color-scheme: dark)").matches);
	open_address().catch(complain);
}

begin();
