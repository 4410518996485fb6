// SPDX-License-Identifier: MIT
/*
 * The ioctl interface as the compiler lays it out, against selftests/abi/layout.golden. What is in
 * that file must never change; what is new is added by
 *
 *	build/asan/unit/layout_test --print >selftests/abi/layout.golden
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/torcoll.h>

#define STRUCT(s)	fprintf(f, "struct %s %zu\n", #s, sizeof(struct s))
#define MEMBER(s, m)							\
	fprintf(f, "\t%s %zu %zu\n", #m, offsetof(struct s, m), sizeof(((struct s *)0)->m))
#define VALUE(v)	fprintf(f, "%s 0x%llx\n", #v, (unsigned long long)(v))

static void print_queries(FILE *f)
{
	STRUCT(torcoll_info);
	MEMBER(torcoll_info, size);
	MEMBER(torcoll_info, flags);
	MEMBER(torcoll_info, abi_version);
	MEMBER(torcoll_info, max_channels);
	MEMBER(torcoll_info, features);
	MEMBER(torcoll_info, collectives);
	MEMBER(torcoll_info, types);
	MEMBER(torcoll_info, redops);
	MEMBER(torcoll_info, algorithms);
	MEMBER(torcoll_info, version);
	STRUCT(torcoll_error);
	MEMBER(torcoll_error, size);
	MEMBER(torcoll_error, len);
	MEMBER(torcoll_error, text);
	STRUCT(torcoll_handle);
	MEMBER(torcoll_handle, size);
	MEMBER(torcoll_handle, handle);
	STRUCT(torcoll_region_add);
	MEMBER(torcoll_region_add, size);
	MEMBER(torcoll_region_add, flags);
	MEMBER(torcoll_region_add, addr);
	MEMBER(torcoll_region_add, length);
	MEMBER(torcoll_region_add, region);
	MEMBER(torcoll_region_add, __reserved);
	STRUCT(torcoll_region_alloc);
	MEMBER(torcoll_region_alloc, size);
	MEMBER(torcoll_region_alloc, flags);
	MEMBER(torcoll_region_alloc, length);
	MEMBER(torcoll_region_alloc, region);
	MEMBER(torcoll_region_alloc, __reserved);
	MEMBER(torcoll_region_alloc, bytes);
	MEMBER(torcoll_region_alloc, offset);
}

static void print_comms(FILE *f)
{
	STRUCT(torcoll_comm_add);
	MEMBER(torcoll_comm_add, size);
	MEMBER(torcoll_comm_add, flags);
	MEMBER(torcoll_comm_add, fabric);
	MEMBER(torcoll_comm_add, name);
	MEMBER(torcoll_comm_add, secret);
	MEMBER(torcoll_comm_add, name_len);
	MEMBER(torcoll_comm_add, secret_len);
	MEMBER(torcoll_comm_add, members);
	MEMBER(torcoll_comm_add, ranks);
	MEMBER(torcoll_comm_add, rank);
	MEMBER(torcoll_comm_add, deadline_ns);
	MEMBER(torcoll_comm_add, depth);
	MEMBER(torcoll_comm_add, comm);
	MEMBER(torcoll_comm_add, missing);
	MEMBER(torcoll_comm_add, bits);
	MEMBER(torcoll_comm_add, wait_ns);
	STRUCT(torcoll_comm_shrink);
	MEMBER(torcoll_comm_shrink, size);
	MEMBER(torcoll_comm_shrink, flags);
	MEMBER(torcoll_comm_shrink, comm);
	MEMBER(torcoll_comm_shrink, depth);
	MEMBER(torcoll_comm_shrink, deadline_ns);
	MEMBER(torcoll_comm_shrink, shrunk);
	MEMBER(torcoll_comm_shrink, rank);
	MEMBER(torcoll_comm_shrink, ranks);
	MEMBER(torcoll_comm_shrink, missing);
	MEMBER(torcoll_comm_shrink, members);
	MEMBER(torcoll_comm_shrink, room);
	MEMBER(torcoll_comm_shrink, __reserved);
	MEMBER(torcoll_comm_shrink, wait_ns);
	STRUCT(torcoll_comm_info);
	MEMBER(torcoll_comm_info, size);
	MEMBER(torcoll_comm_info, comm);
	MEMBER(torcoll_comm_info, rank);
	MEMBER(torcoll_comm_info, ranks);
	MEMBER(torcoll_comm_info, node);
	MEMBER(torcoll_comm_info, generation);
	MEMBER(torcoll_comm_info, ndim);
	MEMBER(torcoll_comm_info, side);
	MEMBER(torcoll_comm_info, frame_bytes);
	MEMBER(torcoll_comm_info, error);
	MEMBER(torcoll_comm_info, error_rank);
	MEMBER(torcoll_comm_info, __reserved);
}

static void print_ops(FILE *f)
{
	STRUCT(torcoll_submit);
	MEMBER(torcoll_submit, size);
	MEMBER(torcoll_submit, flags);
	MEMBER(torcoll_submit, comm);
	MEMBER(torcoll_submit, collective);
	MEMBER(torcoll_submit, algorithm);
	MEMBER(torcoll_submit, type);
	MEMBER(torcoll_submit, redop);
	MEMBER(torcoll_submit, bits);
	MEMBER(torcoll_submit, root);
	MEMBER(torcoll_submit, peer);
	MEMBER(torcoll_submit, count);
	MEMBER(torcoll_submit, counts);
	MEMBER(torcoll_submit, send_region);
	MEMBER(torcoll_submit, recv_region);
	MEMBER(torcoll_submit, send_addr);
	MEMBER(torcoll_submit, recv_addr);
	MEMBER(torcoll_submit, scalar);
	MEMBER(torcoll_submit, param);
	MEMBER(torcoll_submit, deadline_ns);
	MEMBER(torcoll_submit, user_data);
	MEMBER(torcoll_submit, op);
	MEMBER(torcoll_submit, status);
	MEMBER(torcoll_submit, chosen);
	MEMBER(torcoll_submit, recv_counts);
	MEMBER(torcoll_submit, wait_ns);
	STRUCT(torcoll_wait);
	MEMBER(torcoll_wait, size);
	MEMBER(torcoll_wait, flags);
	MEMBER(torcoll_wait, comm);
	MEMBER(torcoll_wait, status);
	MEMBER(torcoll_wait, op);
	MEMBER(torcoll_wait, deadline_ns);
	MEMBER(torcoll_wait, user_data);
	MEMBER(torcoll_wait, error_rank);
	MEMBER(torcoll_wait, __reserved);
	MEMBER(torcoll_wait, spin_ns);
	STRUCT(torcoll_batch);
	MEMBER(torcoll_batch, size);
	MEMBER(torcoll_batch, flags);
	MEMBER(torcoll_batch, descs);
	MEMBER(torcoll_batch, desc_size);
	MEMBER(torcoll_batch, count);
	MEMBER(torcoll_batch, started);
	MEMBER(torcoll_batch, __reserved);
}

static void print_ring(FILE *f)
{
	STRUCT(torcoll_ring_setup);
	MEMBER(torcoll_ring_setup, size);
	MEMBER(torcoll_ring_setup, flags);
	MEMBER(torcoll_ring_setup, entries);
	MEMBER(torcoll_ring_setup, eventfd);
	MEMBER(torcoll_ring_setup, bytes);
	MEMBER(torcoll_ring_setup, entries_offset);
	MEMBER(torcoll_ring_setup, entry_size);
	STRUCT(torcoll_ring);
	MEMBER(torcoll_ring, tail);
	MEMBER(torcoll_ring, __reserved1);
	MEMBER(torcoll_ring, head);
	MEMBER(torcoll_ring, __reserved2);
	STRUCT(torcoll_completion);
	MEMBER(torcoll_completion, op);
	MEMBER(torcoll_completion, user_data);
	MEMBER(torcoll_completion, comm);
	MEMBER(torcoll_completion, status);
	MEMBER(torcoll_completion, error_rank);
	MEMBER(torcoll_completion, flags);
}

static void print_values(FILE *f)
{
	VALUE(TORCOLL_IOC_INFO);
	VALUE(TORCOLL_IOC_ERROR);
	VALUE(TORCOLL_IOC_REGION_ADD);
	VALUE(TORCOLL_IOC_REGION_DEL);
	VALUE(TORCOLL_IOC_REGION_ALLOC);
	VALUE(TORCOLL_REGION_WATCH);
	VALUE(TORCOLL_IOC_COMM_ADD);
	VALUE(TORCOLL_IOC_COMM_DEL);
	VALUE(TORCOLL_IOC_COMM_INFO);
	VALUE(TORCOLL_IOC_SUBMIT);
	VALUE(TORCOLL_IOC_WAIT);
	VALUE(TORCOLL_IOC_ABORT);
	VALUE(TORCOLL_IOC_BATCH);
	VALUE(TORCOLL_IOC_COMM_SHRINK);
	VALUE(TORCOLL_IOC_RING_SETUP);
	VALUE(TORCOLL_ABI_VERSION);
	VALUE(TORCOLL_NAME_MAX);
	VALUE(TORCOLL_MAX_DIMS);
	VALUE(TORCOLL_PARAM_COUNT);
	VALUE(TORCOLL_RANK_SELF);
	VALUE(TORCOLL_FEATURE_PLAIN_POINTERS);
	VALUE(TORCOLL_FEATURE_POLL);
	VALUE(TORCOLL_FEATURE_SHRINK);
	VALUE(TORCOLL_FEATURE_RING);
	VALUE(TORCOLL_FEATURE_SPIN);
	VALUE(TORCOLL_FEATURE_ALLOC);
	VALUE(TORCOLL_FEATURE_WATCH);
	VALUE(TORCOLL_FEATURE_TRY);
	VALUE(TORCOLL_FEATURE_TELL);
	VALUE(TORCOLL_FEATURE_WAIT_NS);
	VALUE(TORCOLL_OP_WAIT);
	VALUE(TORCOLL_OP_NOWAIT);
	VALUE(TORCOLL_OP_RING);
	VALUE(TORCOLL_OP_TRY);
	VALUE(TORCOLL_OP_TELL);
	VALUE(TORCOLL_COMPLETION_REAP);
	VALUE(TORCOLL_MMAP_RING);
	VALUE(TORCOLL_WAIT_NOHANG);
	VALUE(TORCOLL_WAIT_RING);
}

static void print_enums(FILE *f)
{
	/* The last of each, and one in the middle: who inserts or reorders moves one of them. */
	VALUE(TORCOLL_ALLREDUCE);
	VALUE(TORCOLL_BARRIER);
	VALUE(TORCOLL_RECV);
	VALUE(TORCOLL_I8);
	VALUE(TORCOLL_U8);
	VALUE(TORCOLL_F16);
	VALUE(TORCOLL_F32);
	VALUE(TORCOLL_F64);
	VALUE(TORCOLL_SHORT_INT);
	VALUE(TORCOLL_SUM);
	VALUE(TORCOLL_MIN);
	VALUE(TORCOLL_MAX);
	VALUE(TORCOLL_BAND);
	VALUE(TORCOLL_LAND);
	VALUE(TORCOLL_MAXLOC);
	VALUE(TORCOLL_PREMULSUM);
	VALUE(TORCOLL_BITS_AGREE);
	VALUE(TORCOLL_BITS_RELAXED);
	VALUE(TORCOLL_SWING_BW);
	VALUE(TORCOLL_CIRCULANT);
	VALUE(TORCOLL_BIBUCKET);
	VALUE(TORCOLL_RECDOUB_BW_MIRRORED);
	VALUE(TORCOLL_WINDOW);
	VALUE(TORCOLL_ALLPORT);
	VALUE(TORCOLL_BINE);
	VALUE(TORCOLL_LAYERS);
	VALUE(TORCOLL_PARAM_CHANNELS);
	VALUE(TORCOLL_PARAM_VARIANT);
	VALUE(TORCOLL_PARAM_EXCLUDE);
	VALUE(TORCOLL_PARAM_CHUNKS);
}

static void print_all(FILE *f)
{
	print_queries(f);
	print_comms(f);
	print_ops(f);
	print_ring(f);
	print_values(f);
	print_enums(f);
}

static FILE *open_golden(void)
{
	char path[4096] = __FILE__;
	char *slash = strrchr(path, '/');

	assert_non_null(slash);
	snprintf(slash, sizeof(path) - (slash - path), "/../abi/layout.golden");
	return fopen(path, "r");
}

static void layout__is_golden(void **state)
{
	FILE *is = tmpfile(), *golden = open_golden();
	char want[256], have[256];
	int line = 0;

	assert_non_null(is);
	assert_non_null(golden);
	print_all(is);
	rewind(is);
	while (fgets(want, sizeof(want), golden)) {
		line++;
		if (!fgets(have, sizeof(have), is))
			fail_msg("line %d, %s is gone", line, want);
		if (strcmp(want, have))
			fail_msg("line %d: golden %s is now %s", line, want, have);
	}
	assert_null(fgets(have, sizeof(have), is));
	fclose(is);
	fclose(golden);
}

/* A hole would carry kernel memory out, or a caller's garbage in: members fill their struct. */
static void layout__has_no_holes(void **state)
{
	FILE *f = tmpfile();
	size_t end = 0, size = 0, at, bytes;
	char line[256];

	assert_non_null(f);
	print_all(f);
	rewind(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "\t%*s %zu %zu", &at, &bytes) == 2) {
			assert_int_equal(at, end);
			end = at + bytes;
			continue;
		}
		assert_int_equal(end, size);
		end = 0;
		if (sscanf(line, "struct %*s %zu", &size) != 1)
			size = 0;
	}
	fclose(f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout__is_golden),
		cmocka_unit_test(layout__has_no_holes),
	};

	if (argc > 1 && !strcmp(argv[1], "--print")) {
		print_all(stdout);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
