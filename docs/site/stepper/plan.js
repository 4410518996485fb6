// SPDX-License-Identifier: MIT
/*
 * A plan of torcoll-plan, and what each rank holds after each of its rounds.
 *
 * An element of a buffer is a sum of inputs: which ranks' (a bit each), and of which element. Nothing else about data matters, and
 * these are enough to say whether the result is right.
 */
"use strict";

const MOST_RANKS = 64;

class Wrong extends Error {}

/* Buffers of a rank: three arrays as long as the vector. */
class Buffer {
	constructor(count) {
		this.low = new Uint32Array(count);
		this.high = new Uint32Array(count);
		this.from = new Int32Array(count).fill(-1);
	}

	set(i, rank, from) {
		this.low[i] = rank < 32 ? 1 << rank : 0;
		this.high[i] = rank < 32 ? 0 : 1 << (rank - 32);
		this.from[i] = from;
	}

	slice(at, n) {
		const end = at + n;

		return { low: this.low.slice(at, end), high: this.high.slice(at, end), from: this.from.slice(at, end) };
	}

	copy(at, part) {
		this.low.set(part.low, at);
		this.high.set(part.high, at);
		this.from.set(part.from, at);
	}

	add(at, part) {
		for (let i = 0; i < part.low.length; i++) {
			if ((this.low[at + i] & part.low[i]) || (this.high[at + i] & part.high[i]))
				throw new Wrong(`a contribution to element ${at + i} would count twice`);
			this.low[at + i] |= part.low[i];
			this.high[at + i] |= part.high[i];
			this.from[at + i] = part.from[i];
		}
	}
}

function ones(x) {
	let n = 0;

	for (; x; x &= x - 1)
		n++;
	return n;
}

/* plan: dims, ranks, collective, algorithm, root, count, channels, bufs, rounds. */
class Plan {
	constructor(plan) {
		Object.assign(this, plan);
		if (!(this.ranks >= 1 && this.ranks <= MOST_RANKS))
			throw new Wrong(`plans of up to ${MOST_RANKS} ranks can be shown, this one has ${this.ranks}`);
		if (plan.counts || plan.members)
			throw new Wrong("plans with blocks of different lengths, or of chosen nodes, cannot be shown");
		if (this.dims.reduce((a, b) => a * b, 1) !== this.ranks)
			throw new Wrong("the ranks are not those of the torus");
		this.input = this.bufs.indexOf("input");
		this.reset();
	}

	/* The first element of a rank's block: the first count % ranks have one more. */
	start(rank) {
		return rank * Math.floor(this.count / this.ranks) + Math.min(rank, this.count % this.ranks);
	}

	block(element) {
		const least = Math.floor(this.count / this.ranks), more = this.count % this.ranks;

		return element < more * (least + 1) ? Math.floor(element / (least + 1)) :
			more + Math.floor((element - more * (least + 1)) / least);
	}

	has_input(rank, block) {
		switch (this.collective) {
		case "allgather":
		case "gather":
			return rank === block;
		case "broadcast":
		case "scatter":
			return rank === this.root;
		}
		return true;
	}

	has_result(rank, block) {
		switch (this.collective) {
		case "reduce-scatter":
		case "scatter":
			return rank === block;
		case "reduce":
		case "gather":
			return rank === this.root;
		case "exscan":
			return rank > 0;
		}
		return true;
	}

	/* How many contributions the result has at a rank. */
	wanted(rank) {
		switch (this.collective) {
		case "allreduce":
		case "barrier":
		case "reduce-scatter":
		case "reduce":
			return this.ranks;
		case "scan":
			return rank + 1;
		case "exscan":
			return rank;
		}
		return 1;
	}

	reset() {
		this.round = 0;
		this.buffers = Array.from({ length: this.ranks }, () => []);
		for (let rank = 0; rank < this.ranks; rank++) {
			const data = this.buffer(rank, 0);

			for (let i = 0; i < this.count; i++) {
				if (!this.has_input(rank, this.block(i)))
					continue;
				data.set(i, rank, i);
				if (this.input > 0)
					this.buffer(rank, this.input).set(i, rank, i);
			}
		}
	}

	buffer(rank, number) {
		return this.buffers[rank][number] ??= new Buffer(this.count);
	}

	/* The pieces of a round: nine numbers each. */
	* pieces(round) {
		const flat = this.rounds[round];

		for (let i = 0; i < flat.length; i += 9) {
			const [ch, add, src, dst, sbuf, soff, dbuf, doff, n] = flat.slice(i, i + 9);

			yield { ch, add, src, dst, sbuf, soff, dbuf, doff, n };
		}
	}

	/* All read what was there before the round; then copies, then sums in their order. */
	step() {
		const moves = [...this.pieces(this.round)].map((piece) => {
			const read = this.buffer(piece.src, piece.sbuf).slice(piece.soff, piece.n);

			if (read.low.some((low, i) => !low && !read.high[i]))
				throw new Wrong(`rank ${piece.src} has nothing to send in round ${this.round}`);
			return { piece, read };
		});

		for (const { piece, read } of moves)
			if (!piece.add)
				this.buffer(piece.dst, piece.dbuf).copy(piece.doff, read);
		for (const { piece, read } of moves)
			if (piece.add)
				this.buffer(piece.dst, piece.dbuf).add(piece.doff, read);
		this.round++;
	}

	go(round) {
		if (round < this.round)
			this.reset();
		while (this.round < round)
			this.step();
	}

	/* Messages of a round: pieces with the same ends and channel are one. */
	messages(round) {
		const found = new Map();

		for (const piece of this.pieces(round)) {
			const key = `${piece.ch} ${piece.src} ${piece.dst}`;

			if (piece.src === piece.dst)
				continue;
			if (!found.has(key))
				found.set(key, { src: piece.src, dst: piece.dst, ch: piece.ch, add: piece.add, n: 0, blocks: new Set() });
			const message = found.get(key);
			message.n += piece.n;
			message.add |= piece.add;
			for (let b = this.block(piece.soff); b <= this.block(piece.soff + piece.n - 1); b++)
				message.blocks.add(b);
		}
		return [...found.values()];
	}

	/* What a colour stands for: of personalised data its sender, of anything else its place in the vector. */
	colour_of(buffer, i) {
		if (this.collective !== "alltoall" && this.collective !== "halo")
			return this.block(buffer.from[i]);
		return buffer.low[i] ? 31 - Math.clz32(buffer.low[i]) : 63 - Math.clz32(buffer.high[i]);
	}

	/* Runs of elements in a rank's vector that are alike: where, how many, their colour and contributions. */
	runs(rank) {
		const data = this.buffers[rank][0], out = [];

		for (let i = 0; i < this.count; i++) {
			const contributions = ones(data.low[i]) + ones(data.high[i]);
			const colour = contributions ? this.colour_of(data, i) : -1;
			const last = out[out.length - 1];

			if (last && last.colour === colour && last.contributions === contributions && last.block === this.block(i))
				last.n++;
			else
				out.push({ at: i, n: 1, colour, contributions, block: this.block(i) });
		}
		return out;
	}

	/* How many ranks have all of their result. */
	complete() {
		let complete = 0;

		for (let rank = 0; rank < this.ranks; rank++)
			complete += this.runs(rank).every((run) =>
				!this.has_result(rank, run.block) || run.contributions === this.wanted(rank) && this.right(rank, run));
		return complete;
	}

	/* The neighbour whose block is block @way of a halo: down, then up, along each dimension. */
	neighbour(rank, way) {
		let by = 1;

		for (const side of this.dims) {
			const c = Math.floor(rank / by) % side;

			if (side > 1 && way < 2)
				return rank + ((c + (way ? 1 : side - 1)) % side - c) * by;
			way -= side > 1 ? 2 : 0;
			by *= side;
		}
		return rank;
	}

	/* Whether a run with enough contributions has the right ones. */
	right(rank, run) {
		const from = this.buffers[rank][0].from[run.at];

		if (this.collective === "alltoall")
			return run.colour === run.block && this.block(from) === rank;
		if (this.collective === "halo") {
			const n = this.count / (2 * this.dims.filter((side) => side > 1).length), way = Math.floor(run.at / n);

			return run.colour === this.neighbour(rank, way) && from === run.at % n + (way ^ 1) * n;
		}
		return run.colour === run.block;
	}
}

/* A dump as torcoll-plan prints it. */
function read_dump(text) {
	const lines = text.split("\n").filter((line) => line.trim());
	const head = JSON.parse(lines[0] ?? "null");

	if (head?.format !== "torcoll-plan/1")
		throw new Wrong("not what torcoll-plan prints: its first line has no format torcoll-plan/1");
	const plan = { ...head, ranks: head.nodes, bufs: ["data"], rounds: [] };

	for (const line of lines.slice(1)) {
		const x = JSON.parse(line);
		const buf = (name) => plan.bufs.includes(name) ? plan.bufs.indexOf(name) : plan.bufs.push(name) - 1;

		if (![x.src, x.dst].every((r) => r >= 0 && r < plan.ranks) || ![x.soff, x.doff].every((o) => o >= 0 && o + x.n <= plan.count) ||
		    !(x.t >= 0 && x.t < 65536))
			throw new Wrong(`out of range: ${line}`);
		while (plan.rounds.length <= x.t)
			plan.rounds.push([]);
		plan.rounds[x.t].push(x.ch, x.op === "reduce" ? 1 : 0, x.src, x.dst, buf(x.sbuf), x.soff, buf(x.dbuf), x.doff, x.n);
	}
	return new Plan(plan);
}
