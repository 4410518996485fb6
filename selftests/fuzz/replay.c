// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Runs a fuzzer on given inputs, without libFuzzer: files, or folders of them. Prints how many; what is wrong
 * ends it.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

static u32 inputs;

static void run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	size_t size;
	u8 *data;

	if (!f || fstat(fileno(f), &st)) {
		perror(path);
		exit(2);
	}
	size = st.st_size;
	/* exactly as large as it is, so that ASan sees its end */
	data = malloc(size);
	if (size && (!data || fread(data, size, 1, f) != 1)) {
		perror(path);
		exit(2);
	}
	fclose(f);
	fprintf(stderr, "%s\n", path);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	inputs++;
}

static void run_folder(const char *path)
{
	struct dirent **entry;
	char name[4096];
	int i, n;

	n = scandir(path, &entry, NULL, alphasort);
	if (n < 0) {
		perror(path);
		exit(2);
	}
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s/%s", path, entry[i]->d_name);
		if (entry[i]->d_name[0] != '.')
			run_file(name);
		free(entry[i]);
	}
	free(entry);
}

int main(int argc, char **argv)
{
	struct stat st;
	int i;

	for (i = 1; i < argc; i++) {
		if (stat(argv[i], &st)) {
			perror(argv[i]);
			return 2;
		}
		if (S_ISDIR(st.st_mode))
			run_folder(argv[i]);
		else
			run_file(argv[i]);
	}
	printf("%u inputs\n", inputs);
	return inputs == 0;
}
