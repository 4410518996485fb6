// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Links and routes: any hellos at any port at any time, ports that come and go. A link is up only while what it
 * heard last is what the shape expects there, and every route leads by a port that exists to where it should.
 *
 * An input is a shape, then events of 8 bytes: what, port, time, and three bytes that say how the hello deviates
 * from a right one.
 */
#include "fuzz.h"
#include "core/link/route.h"

#define HEAD	4
#define RECORD	8

static struct tor_node node;
static struct tor_ctx ctx;
static u64 heard_at[TOR_MAX_PORTS];

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed)
{
	return fuzz_mutate_records(data, size, max, seed, HEAD, RECORD);
}

/* What the neighbour at @port would say, if all were well. */
static void right_hello(u32 port, struct tor_hdr *h, struct tor_hello *hello)
{
	u32 peer = tor_torus_peer_port(&node.torus, port), dim;

	memset(hello, 0, sizeof(*hello));
	tor_node_header(&node, h, TORCOLL_FRAME_HELLO, ~0U);
	h->src = tor_torus_neighbour(&node.torus, node.self, port);
	h->src_epoch = 77;
	strcpy(hello->version, "0.1.0");
	hello->dim = tor_port_dim(&node.torus, peer);
	hello->way = tor_port_way(&node.torus, peer);
	hello->ndim = node.torus.ndim;
	hello->hears = 1;
	for (dim = 0; dim < node.torus.ndim; dim++)
		hello->side[dim] = tor_torus_side(&node.torus, dim);
	hello->frame_size = 1500;
	hello->heard_node = node.self;
	hello->heard_epoch = node.epoch;
	hello->interval_ms = 200;
}

/* One member is something else. */
static void deviate(u8 which, u32 value, struct tor_hdr *h, struct tor_hello *hello,
		    struct tor_record *record)
{
	u32 i;

	switch (which % 16) {
	case 1:
		h->src = value;
		break;
	case 2:
		h->src_epoch = value;
		break;
	case 3:
		hello->dim = value % hello->ndim;
		break;
	case 4:
		hello->way = value & 1;
		break;
	case 5:
		hello->ndim = 1 + value % TOR_MAX_DIMS;
		hello->dim = 0;
		break;
	case 6:
		hello->hears = 0;
		break;
	case 7:
		hello->side[value % TOR_MAX_DIMS] = value;
		break;
	case 8:
		hello->frame_size = value;
		break;
	case 9:
		hello->heard_node = value;
		break;
	case 10:
		hello->heard_epoch = value;
		break;
	case 11:
		hello->records = 1 + value % TORCOLL_HELLO_RECORDS_MAX;
		for (i = 0; i < hello->records; i++) {
			record[i].node = (value + i) % (2 * node.torus.nodes);
			record[i].epoch = value >> 12;
			record[i].seq = value * i;
			record[i].dead = value >> i % 16;
			record[i].frame = value << i % 16;
		}
		hello->view = value;
		break;
	case 12:
		memset(hello->version, 'x', sizeof(hello->version) - 1);
		break;
	case 13:
		hello->fabric_frame = value;
		break;
	case 14:
		hello->interval_ms = value;
		hello->more = value & 1;
		hello->rates = value;
		hello->sent = value;
		hello->cables = value >> 4;
		memset(hello->name, value >> 8, value % sizeof(hello->name));
		break;
	}
}

/* What comes of it by the cable. False: nothing. */
static bool pass_on(struct tor_hdr *h, struct tor_hello *hello, const struct tor_record *record)
{
	static u8 body[TOR_WIRE_HELLO_MAX];
	u8 frame[sizeof(struct torcoll_hdr)];
	enum tor_counter why;

	h->length = tor_wire_hello_bytes(hello);
	tor_wire_build(frame, h, NULL);
	tor_wire_put_hello(body, hello, record);
	return !tor_wire_parse(frame, sizeof(frame), sizeof(frame) + h->length, h, &why) &&
	       !tor_wire_get_hello(body, h->length, hello);
}

static void say(struct fuzz_in *in, u32 port)
{
	struct tor_record record[TORCOLL_HELLO_RECORDS_MAX];
	struct tor_hello hello;
	struct tor_hdr h;
	u8 which = fuzz_u8(in);
	u16 value = fuzz_u16(in);
	u32 state;

	right_hello(port, &h, &hello);
	deviate(which, (u32)value << (which >> 4) ^ value, &h, &hello, record);
	if (!pass_on(&h, &hello, record)) {
		/* a right one is let through */
		must(which % 16 && which % 16 != 15);
		return;
	}
	tor_cable_hello(&ctx, &node, port, &h, &hello);
	state = node.cable[port].state;
	must(strlen(node.cable[port].peer_version) <= TORCOLL_HELLO_VERSION);
	must(strlen(node.cable[port].peer_name) <= TORCOLL_HOST_NAME);
	if (state <= TOR_CABLE_NO_CARRIER)
		return;
	heard_at[port] = ctx.now;
	if (state == TOR_CABLE_UP)
		must(h.src == tor_torus_neighbour(&node.torus, node.self, port) &&
		     hello.heard_node == node.self && hello.heard_epoch == node.epoch &&
		     hello.ndim == node.torus.ndim);
	else
		/* a right one is believed */
		must(which % 16 && which % 16 != 15);
}

static void check_links(void)
{
	u32 port;

	for (port = 0; port < TOR_MAX_PORTS; port++) {
		must(node.cable[port].state < TOR_CABLE_STATES);
		if (node.cable[port].state == TOR_CABLE_UP)
			must(tor_torus_has_port(&node.torus, node.self, port));
	}
}

/* Whatever was heard, a frame goes from port to port over links that nobody calls dead, and gets there. */
static void check_routes(struct fuzz_in *in)
{
	const struct tor_torus *t = &node.torus;
	u32 dst = fuzz_u8(in) % (t->nodes + 1);
	u32 tie = fuzz_u8(in) & 1;
	u32 at = node.self, from = TOR_NO_PORT, hops = 0;
	u16 *dead = calloc(t->nodes, sizeof(*dead));
	bool known;

	tor_view_copy_dead(&node.view, dead, 0, node.torus.nodes);
	do {
		struct tor_routes *routes = tor_routes_build(t, at, dead);
		u32 port = tor_routes_port(t, routes, dst, tie, ~0U, from);

		known = at != node.self || dst >= t->nodes || tor_routes_reach(routes, dst);
		must(at == node.self || tor_routes_reach(routes, dst));
		tor_env_table_free(routes);
		if (dst >= t->nodes || dst == at || !known) {
			must(port == TOR_NO_PORT);
			break;
		}
		must(port < t->ports && tor_torus_has_port(t, at, port));
		must(!(dead[at] >> port & 1));
		from = tor_torus_peer_port(t, port);
		at = tor_torus_neighbour(t, at, port);
		must(!(dead[at] >> from & 1));
		must(++hops < t->nodes);
	} while (true);
	free(dead);
}

/* Nobody says anything, and the timer comes in time. */
static void be_silent(void)
{
	u64 end = ctx.now + TOR_HELLO_MISSES * TOR_HELLO_RAREST + node.hello_ns;

	while (ctx.now < end) {
		ctx.now += tor_link_tick_ns(&node);
		tor_link_tick(&ctx, &node);
	}
}

static void event(struct fuzz_in *in)
{
	u32 what = fuzz_u8(in) % 8;
	u32 port = fuzz_u8(in) % node.torus.ports;

	ctx.now += (u64)fuzz_u8(in) * fuzz_u8(in) * NSEC_PER_MSEC / 4;
	if (!tor_torus_has_port(&node.torus, node.self, port))
		return;
	switch (what) {
	case 0:
		tor_cable_open(&ctx, &node, port, 400 + 16 * fuzz_u8(in));
		break;
	case 1:
		tor_cable_close(&ctx, &node, port, fuzz_u8(in) & 1);
		break;
	case 2:
		tor_cable_foreign(&ctx, &node, port, fuzz_u8(in));
		break;
	case 3:
		tor_link_tick(&ctx, &node);
		/* a timer that was late says nothing; but after so much silence nobody is believed */
		if (heard_at[port] && ctx.now - heard_at[port] > tor_cable_patience(&node, port)) {
			be_silent();
			must(node.cable[port].state != TOR_CABLE_UP);
		}
		break;
	case 4:
		check_routes(in);
		break;
	default:
		say(in, port);
	}
	check_links();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_in in = { data, size };
	struct tor_torus torus;

	host_reset();
	memset(&node, 0, sizeof(node));
	memset(heard_at, 0, sizeof(heard_at));
	fuzz_torus(&in, &torus);
	must(!tor_node_init(&node, &torus, 1, fuzz_below(&in, torus.nodes)));
	fuzz_u8(&in);
	ctx.now = NSEC_PER_SEC;
	while (in.left >= RECORD) {
		struct fuzz_in record = { in.p, RECORD };

		event(&record);
		in.p += RECORD;
		in.left -= RECORD;
		/* what it says is not looked at: memory is all that it would cost */
		host_forget_sent();
	}
	tor_node_destroy(&node);
	must(!host.outstanding);
	return 0;
}
