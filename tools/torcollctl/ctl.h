/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Internals that the files of torcollctl share: the command line, errors,
 * requests to the kernel, output.
 *
 * Every command returns an exit code like those of iproute2, and has printed
 * the reason on stderr: CTL_USAGE if the kernel was not asked, CTL_REFUSED if
 * it, the system or the rest of the fabric refused, CTL_WRONG if something is
 * not as it should be. The manual page has those that differ.
 */
#ifndef _CTL_H
#define _CTL_H

#include <json-c/json.h>
#include <netlink/msg.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "amount.h"
#include "core/host_shape.h"
#include "linux/torcoll_netlink.h"

#define CTL_OK		0
#define CTL_USAGE	1
#define CTL_REFUSED	2
/* the command was executed and something is wrong: a fault was found, a port's device is missing */
#define CTL_WRONG	3
/* apply: the fabric runs, but some of the other changes were refused */
#define CTL_PARTLY	4
/* apply: the file has no section for this host, which may get its name later */
#define CTL_NOT_YET	5

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

struct options {
	bool json;
	bool pretty;
	bool all;		/* include zeros */
	bool force;		/* a batch continues after an error */
	bool batch;		/* other commands may follow */
};

extern struct options opt;

/* --- args.c: words of the command line --- */

struct args {
	int argc;
	char **argv;
};

/* A command of an object, or an object; @a holds the words after it. */
struct command {
	const char *name;
	int (*run)(struct args *a);
};

/* A command line begins: no object is known. */
void args_begin(void);

/* Print which help tells more, after a usage_error(). */
void args_hint(void);

/* Print a sentence on stderr about the words of the command line. Return CTL_USAGE. */
int usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same about something else, in which no help helps. */
int other_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Take the next word; NULL if there is none. */
char *arg_next(struct args *a);

/*
 * Take the next word, which is required; NULL after printing that @what is
 * missing.
 */
char *arg_need(struct args *a, const char *what);

/*
 * Note that the command line has the keyword @word, a constant. Return false if
 * it had it before: no keyword is taken from then on, and arg_end() names it.
 */
bool arg_once(const char *word);

/*
 * Take the next word if it is @word, or an abbreviation of it, for the first
 * time; return whether it is.
 */
bool arg_is(struct args *a, const char *word);

/* Return CTL_OK if no word is left, and no keyword was given twice. */
int arg_end(const struct args *a);

/*
 * Find the one of @names (@n of them, @size bytes apart, each beginning with a
 * const char *) that @word names or abbreviates. Return its index, or -1 after
 * printing the reason; @what is the kind of word expected.
 */
int word_find(const char *word, const void *names, size_t n, size_t size, const char *what);

/* Run the command that the next word names; @fallback if there is no word. */
int command_run(struct args *a, const struct command *commands, size_t n, int fallback,
		const char *help);

/*
 * Parse a whole number, decimal or 0x. Return 0, or CTL_USAGE after printing
 * the reason.
 */
int parse_u64(const char *s, const char *what, uint64_t max, uint64_t *value);
int parse_u32(const char *s, const char *what, uint32_t *value);

/* Take a number, which is required. */
int arg_u64(struct args *a, const char *what, uint64_t *value);
int arg_u32(struct args *a, const char *what, uint32_t *value);

/* --- nl.c: netlink --- */

/**
 * struct conn - a socket, in the network namespace where it was opened
 * @family: torcoll's number, 0 for rtnetlink
 * @text: sentence about the failure of the last request
 */
struct conn {
	struct nl_sock *sk;
	int family;
	char text[512];
};

/*
 * Return 0 or a negative errno with conn->text; -ENOENT: the family is missing,
 * so the module is not loaded.
 */
int conn_open(struct conn *c);
int conn_open_route(struct conn *c);
void conn_close(struct conn *c);

/* The same with a message on stderr. Return an exit code. */
int conn_need(struct conn *c);

/* Allocate a request, to be filled in. */
struct nl_msg *conn_request(struct conn *c, uint8_t cmd, int flags);

/**
 * conn_call - send a request and receive the whole answer
 * @c: connection
 * @msg: consumed
 * @on_msg: called for every message of the answer, or NULL
 * @arg: for it
 *
 * Return: 0 or a negative errno with conn->text.
 */
int conn_call(struct conn *c, struct nl_msg *msg, void (*on_msg)(struct nlmsghdr *nlh, void *arg),
	      void *arg);

/**
 * conn_listen - receive messages that the kernel sends by itself
 * @c: connection
 * @ms: longest wait
 * @on_msg: called for every message; conn_call() calls its own for these, too
 * @arg: for it
 *
 * Return: 1 if any came, or some were lost; 0 if none did; or a negative errno
 * with conn->text.
 */
int conn_listen(struct conn *c, int ms, void (*on_msg)(struct nlmsghdr *nlh, void *arg), void *arg);

/* Print conn->text. Return CTL_REFUSED. */
int conn_refused(const struct conn *c);

/* --- field.c: attributes as JSON --- */

enum field_kind {
	FIELD_U32,
	FIELD_U64,
	FIELD_STRING,
	FIELD_NAME,		/* u32, index into names */
	FIELD_DIR,		/* FIELD_NAME with plus and minus */
	FIELD_STATE,		/* FIELD_NAME with the states of links */
	FIELD_MAC,
	FIELD_U32S,		/* packed u32[], as numbers or names */
	FIELD_LIST_U32,		/* repeated u32 */
	FIELD_LIST,		/* repeated nest */
	FIELD_NEST,
};

struct field {
	uint16_t attr;
	enum field_kind kind;
	const char *name;
	const void *names;	/* FIELD_NAME: const char *const *; FIELD_LIST, FIELD_NEST: struct field * */
	size_t n;		/* number of names */
};

#define FIELD(_attr, _kind, _name)		{ _attr, _kind, _name, NULL, 0 }
#define FIELD_OF(_attr, _kind, _name, _table)	{ _attr, _kind, _name, _table, ARRAY_SIZE(_table) }

/* A kind of object: its commands and attributes. */
struct view {
	uint8_t cmd;		/* TORCOLL_CMD_*_GET */
	uint16_t key;		/* attribute with the fabric's key */
	const struct field *fields;
	size_t n;
};

extern const struct view fabric_view, port_view, node_view, comm_view, op_view, stats_view;

struct json_object *view_parse(const struct view *view, struct nlmsghdr *nlh);

/**
 * view_dump - get all objects of a kind, or those of one fabric
 * @c: connection
 * @view: kind
 * @key: of the fabric, or NULL
 * @list: out: a JSON array, to be put
 *
 * Return: 0 or a negative errno with conn->text.
 */
int view_dump(struct conn *c, const struct view *view, const uint64_t *key,
	      struct json_object **list);

/*
 * Get what "OBJECT show [KEY]" prints, a JSON array to be put. A key without a
 * fabric is an error. Return an exit code; with others than CTL_OK the reason
 * was printed, and there is no array.
 */
int view_load(struct args *a, const struct view *view, struct json_object **list);

/*
 * Execute "OBJECT show [KEY]": @text prints all objects. A key without a fabric
 * is an error.
 */
int view_show(struct args *a, const struct view *view, void (*text)(struct json_object *list));

/* --- fmt.c: output --- */

uint64_t js_u64(struct json_object *o, const char *name);
/* Return a member as printable text, see fmt_plain(); "" if there is none. */
const char *js_str(struct json_object *o, const char *name);
/* The same unchanged: not for output. */
const char *js_raw(struct json_object *o, const char *name);
struct json_object *js_get(struct json_object *o, const char *name);
bool js_has(struct json_object *o, const char *name);
/* Return the elements of a member that is an array; 0 if it is none, as in a file from elsewhere. */
size_t js_length(struct json_object *o, const char *name);

/* Print a value as JSON and a newline. In it, text that is not UTF-8 becomes as of fmt_plain(). */
void js_print(struct json_object *o);

/*
 * The results of the functions below have any length, and are valid until 32
 * more calls of them.
 */

/*
 * Return @text, or a copy with \x1b and the like for characters other than
 * plain ASCII: other users choose names, and some characters control terminals.
 */
const char *fmt_plain(const char *text);
/* "1,2" of an array; "1,2..." of a very long one */
const char *fmt_list(struct json_object *array);
/* "4x4" */
/* "5x3:line": lists of these names in @o */
const char *fmt_dims(struct json_object *o, const char *sides, const char *kinds);
/* "1.5 s", "12 ms" */
const char *fmt_ns(uint64_t ns);
/* "3 s", "5 min", "2 h", "4 days": how long ago, or since when */
const char *fmt_age(uint64_t ns);
/* "4 MiB" */
const char *fmt_bytes(uint64_t bytes);
/* formatted */
const char *fmt_str(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *fmt_vstr(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/*
 * Rows of cells; columns are as wide as they need to be, numbers are flush
 * right.
 */
struct table {
	size_t columns, rows;
	char **cell;
};

void table_row(struct table *t, size_t columns, const char *const *cells);
void table_print(struct table *t);	/* frees it */

#define TABLE_ROW(t, ...)							\
	table_row(t, ARRAY_SIZE(((const char *const []){ __VA_ARGS__ })),	\
		  (const char *const []){ __VA_ARGS__ })

/* --- shape.c: the torus --- */

#define MAX_DIMS	6
#define MAX_PORTS	(2 * MAX_DIMS)

struct shape {
	uint32_t ndim;
	uint32_t cables;
	uint32_t nodes;
	uint32_t side[MAX_DIMS];
	uint32_t step[MAX_DIMS];	/* of a chord, whose side is 1 */
	uint8_t kind[MAX_DIMS];		/* enum torcoll_kind */
};

int shape_parse(const char *s, struct shape *shape);
/* The shape that core has. */
void shape_from_torus(struct shape *shape, const struct tor_torus *t);
/*
 * Return whether these sides, TORCOLL_SIDE() each and 0 beyond the last one,
 * make a fabric.
 */
bool shape_from_sides(const uint32_t *side, uint32_t cables, struct shape *shape);
/* Read the shape of a fabric from JSON. */
bool shape_from_json(struct json_object *fabric, struct shape *shape);
/*
 * The same as sides with their kinds, from lists of these names; and the
 * opposite, as "sides" and, unless all are rings, "kinds". Return: their number.
 */
uint32_t shape_words(struct json_object *o, const char *sides, const char *kinds, uint32_t *word);
void shape_to_json(struct json_object *o, uint32_t ndim, const uint32_t *word);
void shape_sides(const struct shape *shape, uint32_t *word);
/* Dimensions with coordinates: without chords. */
uint32_t shape_axes(const struct shape *shape);
/* Return whether it is a ring with chords. */
bool shape_has_chords(const struct shape *shape);
/* "5x3:line"; "ring", "line", "full mesh", "4x4 torus"; static buffers as above */
const char *shape_dims(const struct shape *shape);
const char *shape_noun(const struct shape *shape);
/* Convert "1,2" to the node's index. */
int shape_parse_coord(const struct shape *shape, const char *s, uint32_t *node);
uint32_t shape_coord(const struct shape *shape, uint32_t node, uint32_t dim);

/* A port by its dimension and its place in dir_names. */
struct shape_port {
	uint32_t dim;
	uint32_t dir;
};

/* Ports of a node, by number; MAX_PORTS: none has that name. */
uint32_t shape_ports(const struct shape *shape);
struct shape_port shape_port(const struct shape *shape, uint32_t port);
uint32_t shape_find_port(const struct shape *shape, uint32_t dim, uint32_t dir);
bool shape_has_port(const struct shape *shape, uint32_t node, uint32_t dim, uint32_t dir);
/* At the other end of the cable: the node, and the direction of its port. */
uint32_t shape_neighbour(const struct shape *shape, uint32_t node, uint32_t dim, uint32_t dir);
uint32_t shape_back(const struct shape *shape, uint32_t dim, uint32_t dir);
/* Return whether a cable is there whose first end this is: of two ends, one. */
bool shape_leads(const struct shape *shape, uint32_t node, uint32_t dim, uint32_t dir);
/* "1,2"; static buffers as above */
const char *shape_place(const struct shape *shape, uint32_t node);

/* --- objects --- */

/* plus, minus, and in meshes the steps upwards: see tor_port_dir(). */
#define DIR_NAMES	(TOR_DIR_STEPS + MAX_PORTS + 1)
extern const char *const dir_names[DIR_NAMES];
static inline const char *dir_name(uint32_t dir)
{
	return dir < DIR_NAMES ? dir_names[dir] : "?";
}

/* The opposite; DIR_NAMES: no such name. */
uint32_t dir_parse(const char *name);

/* The word for a state of a link: enum torcoll_link_state. */
const char *link_state_name(uint32_t state);

/* Parameters of "fabric add". */
struct fabric_spec {
	uint64_t key;
	struct shape shape;
	uint32_t node;
	uint32_t ethertype;	/* 0: the default; likewise below */
	uint32_t hello_ms;
	uint32_t frame_size;
	bool checksum_header;
};

/*
 * Take the next words if they are an option of a fabric that is not about one
 * node. Return 0: taken, -1: not such an option, CTL_USAGE after printing an
 * error.
 */
int fabric_option(struct args *a, struct fabric_spec *spec);
int fabric_new(struct conn *c, const struct fabric_spec *spec);
int fabric_delete(struct conn *c, uint64_t key, bool force);
int port_new(struct conn *c, uint64_t key, uint32_t dim, uint32_t dir, uint32_t ifindex);
/* @ifindex: of the device; 0: there is one only. */
int port_delete(struct conn *c, uint64_t key, uint32_t dim, uint32_t dir, uint32_t ifindex);

#define LIMITS		7
#define LIMIT_NONE	INT64_MAX	/* from here on, as the kernel reports it */

/*
 * Read and set the limits of every user; UINT64_MAX is none, and @which has a
 * bit for each one to be set. Return 0 or a negative errno with conn->text.
 */
int limits_get(struct conn *c, uint64_t value[LIMITS]);
int limits_set(struct conn *c, const uint64_t value[LIMITS], uint32_t which);
/* "comms 64", as limit set takes it */
const char *limit_word(size_t i, uint64_t value);

/*
 * Set the name by which other hosts see this one, NULL: the system's. Return 0
 * or a negative errno with c->text.
 */
int host_name_set(struct conn *c, const char *name);

/* Get that name, whole if there is room for TORCOLL_HOST_NAME + 1 bytes. Return likewise. */
int host_name_get(struct conn *c, char *name, size_t size);

/* --- reason.c --- */

/*
 * Print why ports are not "up", and how their neighbours differ from this node,
 * one line each. @ports: of this network namespace.
 */
void port_print_reasons(struct json_object *ports);

int fabric_main(struct args *a);
int host_main(struct args *a);
int hosts_main(struct args *a);
int port_main(struct args *a);
int node_main(struct args *a);
int comm_main(struct args *a);
int op_main(struct args *a);
int stats_main(struct args *a);
int limit_main(struct args *a);
int log_main(struct args *a);
int survey_main(struct args *a);
int discover_main(struct args *a);
int advise_main(struct args *a);
int monitor_main(struct args *a);
int netns_main(struct args *a);
int env_main(struct args *a);
int apply_main(struct args *a);
int showconf_main(struct args *a);
int qualify_main(struct args *a);
int top_main(struct args *a);

#endif
