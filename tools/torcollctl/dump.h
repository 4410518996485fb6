/* SPDX-License-Identifier: GPL-2.0 */
/* Lists from the kernel, of one moment. */
#ifndef _CTL_DUMP_H
#define _CTL_DUMP_H

struct conn;
struct nl_msg;
struct nlmsghdr;

/**
 * struct dump - a list to ask for
 * @request: return the request, to be sent
 * @begin: forget what has come: the list begins, maybe anew
 * @on_msg: take a message of the list
 */
struct dump {
	struct nl_msg *(*request)(struct conn *c, void *arg);
	void (*begin)(void *arg);
	void (*on_msg)(struct nlmsghdr *nlh, void *arg);
};

/**
 * conn_dump - get a list, again and again until nothing has changed meanwhile
 * @c: connection
 * @dump: the list
 * @arg: for its functions
 *
 * Return: 0 or a negative errno with conn->text; -EAGAIN: things never stopped
 * changing, and the list is that of several moments.
 */
int conn_dump(struct conn *c, const struct dump *dump, void *arg);

#endif
