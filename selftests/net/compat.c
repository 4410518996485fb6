// SPDX-License-Identifier: GPL-2.0
/*
 * Programs of 32 bits: the same calls by that gate of the kernel, from memory below 4 GiB. For bad.sh: wants the namespaces of
 * a 2x2 torus, says KTAP.
 */
#include "bad.h"

#include <signal.h>
#include <sys/mman.h>

#ifdef __x86_64__

#define IOCTL_32	54		/* its number there */
#define COUNT		7

/* All that the kernel sees of us, below 4 GiB. */
static struct low {
	struct torcoll_submit submit;
	char vector[4096];
} *low;

static int call_32(int fd, unsigned long cmd, void *arg)
{
	long ret;

	asm volatile("int $0x80"
		     : "=a" (ret)
		     : "a" (IOCTL_32), "b" (fd), "c" (cmd), "d" (arg)
		     : "memory", "cc", "r8", "r9", "r10", "r11");
	/* errors are as wide as registers there */
	return -(int32_t)ret;
}

static void no_gate(int number)
{
	result(true, "none # SKIP the kernel runs no programs of 32 bits");
	finish();
	fflush(stdout);
	_exit(0);
}

/* Of a comm of one: what is called is the result. */
static int call_type(int fd, uint32_t comm, unsigned int type, unsigned int redop)
{
	low->submit = (struct torcoll_submit){
		.size = sizeof(low->submit), .comm = comm, .flags = TORCOLL_OP_WAIT,
		.collective = TORCOLL_ALLREDUCE, .type = type, .redop = redop, .count = COUNT,
		.send_addr = (uintptr_t)low->vector, .recv_addr = (uintptr_t)low->vector,
	};
	return call_32(fd, TORCOLL_IOC_SUBMIT, &low->submit);
}

static bool is_refused(int fd, uint32_t comm, unsigned int type)
{
	return call_type(fd, comm, type, TORCOLL_MINLOC) == EOPNOTSUPP &&
	       strstr(sentence(fd), "32 bits");
}

int main(void)
{
	static const uint32_t self;
	struct joiner j = { .name = "compat", .members = &self, .ranks = 1, .depth = 1 };

	low = mmap(NULL, sizeof(*low), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	need(low != MAP_FAILED, "no memory");
	j.fd = open_on(0);
	join(&j);
	need(!j.err, "comm: %s", sentence(j.fd));
	signal(SIGSEGV, no_gate);
	result(!call_type(j.fd, j.comm, TORCOLL_I32, TORCOLL_SUM) && !low->submit.status, "served");
	result(!call_type(j.fd, j.comm, TORCOLL_FLOAT_INT, TORCOLL_MINLOC) && !low->submit.status,
	       "float_int__is_the_same");
	result(is_refused(j.fd, j.comm, TORCOLL_DOUBLE_INT), "double_int__is_another");
	result(is_refused(j.fd, j.comm, TORCOLL_LONG_INT), "long_int__is_another");
	return finish();
}

#else

int main(void)
{
	result(true, "none # SKIP only for x86");
	return finish();
}

#endif
