// SPDX-License-Identifier: MIT
/*
 * The picture: a ring as a circle; a torus as a grid, dimension 0 to the right, 1 down, further ones as a grid of such planes. An
 * arrow around the torus leaves at an edge and enters at the opposite one.
 */
"use strict";

const STEP = 104;		/* between nodes */
const BOX = 50;			/* a node */
const EDGE = 70;

class Picture {
	constructor(svg, plan, chosen) {
		this.svg = svg;
		this.plan = plan;
		this.chosen = chosen;
		this.sides = plan.dims.filter((side) => side > 1);
		if (!this.sides.length)
			this.sides = [1];
		this.ring = this.sides.length === 1;
		this.radius = Math.max(110, plan.ranks * (BOX + 55) / (2 * Math.PI));
		this.places = Array.from({ length: plan.ranks }, (_, rank) => this.place(rank));
		this.width = Math.max(...this.places.map((p) => p.x)) + EDGE;
		this.height = Math.max(...this.places.map((p) => p.y)) + EDGE;
		svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
		svg.style.maxWidth = `${this.width * 1.35}px`;
	}

	coords(rank) {
		return this.sides.map((side) => {
			const c = rank % side;

			rank = Math.floor(rank / side);
			return c;
		});
	}

	/* A step along a dimension: planes lie side by side with some room between. */
	along(dim) {
		let by = STEP;

		for (let i = dim % 2; i < dim; i += 2)
			by *= this.sides[i] + 0.4;
		return dim % 2 ? { x: 0, y: by } : { x: by, y: 0 };
	}

	place(rank) {
		if (this.ring) {
			const angle = 2 * Math.PI * rank / this.plan.ranks - Math.PI / 2;
			const middle = this.radius + EDGE;

			return { x: middle + this.radius * Math.cos(angle), y: middle + this.radius * Math.sin(angle) };
		}
		return this.coords(rank).reduce((p, c, dim) => {
			const by = this.along(dim);

			return { x: p.x + c * by.x, y: p.y + c * by.y };
		}, { x: EDGE, y: EDGE });
	}

	/* From a rank the shorter way to another, over an edge if need be; and the number of cables. */
	way(src, dst) {
		const from = this.coords(src), to = this.coords(dst);
		let x = 0, y = 0, hops = 0;

		this.sides.forEach((side, dim) => {
			const by = this.along(dim);
			let d = to[dim] - from[dim];

			if (2 * d > side)
				d -= side;
			else if (2 * d < -side)
				d += side;
			x += d * by.x;
			y += d * by.y;
			hops += Math.abs(d);
		});
		return { x, y, hops };
	}

	element(name, attributes, parent = this.svg) {
		const node = document.createElementNS("http://www.w3.org/2000/svg", name);

		for (const [key, value] of Object.entries(attributes))
			node.setAttribute(key, value);
		parent.append(node);
		return node;
	}

	colour(block) {
		return `hsl(${Math.round(360 * block / this.plan.ranks)} 70% var(--lightness))`;
	}

	cable(a, b) {
		this.element("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y, class: "cable" });
	}

	cables() {
		for (let rank = 0; rank < this.plan.ranks; rank++) {
			const a = this.places[rank];

			if (this.ring && this.plan.ranks > 1)
				this.cable(a, this.places[(rank + 1) % this.plan.ranks]);
			for (let dim = 0; !this.ring && dim < this.sides.length; dim++) {
				const by = this.along(dim), c = this.coords(rank)[dim];
				const stub = { x: by.x && STEP * 0.55, y: by.y && STEP * 0.55 };

				if (c + 1 < this.sides[dim] && dim < 2)
					this.cable(a, { x: a.x + by.x, y: a.y + by.y });
				else if (c + 1 === this.sides[dim] && dim < 2)
					this.cable(a, { x: a.x + stub.x, y: a.y + stub.y });
				if (c === 0 && dim < 2)
					this.cable(a, { x: a.x - stub.x, y: a.y - stub.y });
			}
		}
	}

	node(rank, runs, most) {
		const p = this.places[rank], x = p.x - BOX / 2, y = p.y - BOX / 2;
		const group = this.element("g", { class: rank === this.chosen ? "node chosen" : "node", "data-rank": rank });
		const title = this.element("title", {}, group);

		title.textContent = `rank ${rank}: click to see its blocks as numbers`;
		this.element("rect", { x, y, width: BOX, height: BOX, class: "box" }, group);
		for (const run of runs) {
			if (!run.contributions)
				continue;
			const height = Math.max(3, BOX * run.contributions / most);

			this.element("rect", {
				x: (x + BOX * run.at / this.plan.count).toFixed(2), y: (y + BOX - height).toFixed(2),
				width: (BOX * run.n / this.plan.count).toFixed(2), height: height.toFixed(2),
				style: `fill: ${this.colour(run.colour)}`,
			}, group);
		}
		this.element("rect", { x, y, width: BOX, height: BOX, class: "frame" }, group);
		const name = this.element("text", { x: p.x, y: y - 5 }, group);

		name.textContent = rank;
	}

	/* Bowed to the left of its direction, so that the arrow back is beside it. */
	bow(a, b, message, head) {
		const dx = b.x - a.x, dy = b.y - a.y, length = Math.hypot(dx, dy);
		const bow = Math.min(0.16 * length, 34) + 4 * (message.ch % 4);
		const middle = { x: (a.x + b.x) / 2 + dy / length * bow, y: (a.y + b.y) / 2 - dx / length * bow };
		/* from rim to rim */
		const rim = (p, gap) => {
			const d = Math.hypot(p.x - middle.x, p.y - middle.y), r = Math.min(d, BOX / 2 + gap);

			return `${(p.x + (middle.x - p.x) / d * r).toFixed(1)} ${(p.y + (middle.y - p.y) / d * r).toFixed(1)}`;
		};
		const blocks = [...message.blocks];
		const path = this.element("path", {
			d: `M${rim(a, 0)}Q${middle.x.toFixed(1)} ${middle.y.toFixed(1)} ${rim(b, 7)}`,
			class: message.add ? "arrow" : "arrow copies",
			style: `stroke: ${this.colour(blocks[0])}; stroke-width: ${1.6 + 2.4 * Math.min(1, message.n / this.plan.count)}`,
			"marker-end": head ? "url(#head)" : "",
		});

		this.element("title", {}, path).textContent =
			`rank ${message.src} to ${message.dst}: ${message.n} of ${this.plan.count} elements, ` +
			`${blocks.length > 8 ? `${blocks.length} blocks` : `block ${blocks.join(", ")}`}, ` +
			`${message.add ? "added" : "stored"} there`;
	}

	arrow(message) {
		const a = this.places[message.src], b = this.places[message.dst];

		if (this.ring) {
			this.bow(a, b, message, true);
			return;
		}
		const way = this.way(message.src, message.dst);
		const leave = { x: a.x + way.x, y: a.y + way.y }, enter = { x: b.x - way.x, y: b.y - way.y };

		this.bow(enter, b, message, true);
		if (Math.hypot(leave.x - b.x, leave.y - b.y) > 1)
			this.bow(a, leave, message, false);
	}

	/* Draw what each rank holds now, and the messages. */
	draw(messages) {
		const plan = this.plan;

		this.svg.replaceChildren();
		const head = this.element("marker", {
			id: "head", viewBox: "0 0 8 8", refX: 4, refY: 4, markerWidth: 5, markerHeight: 5, orient: "auto",
		}, this.element("defs", {}));

		this.element("path", { d: "M0 0L8 4L0 8z", style: "fill: context-stroke" }, head);
		this.cables();
		messages.forEach((message) => this.arrow(message));
		for (let rank = 0; rank < plan.ranks; rank++)
			this.node(rank, plan.runs(rank), Math.max(1, plan.wanted(plan.collective === "scan" || plan.collective === "exscan" ?
				plan.ranks - 1 : rank)));
	}
}
