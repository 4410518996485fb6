// SPDX-License-Identifier: MIT
/*
 * Times Gloo's allreduce of floats: gloo_allreduce ring|bcube ADDRESS STORE SECONDS BYTES...
 *
 * Rank and size come from TORCOLL_RANK and TORCOLL_SIZE, as torcollctl netns run sets them; ADDRESS is this node's,
 * STORE a folder in which the ranks find each other. Rank 0 prints a line per size, see bench_print().
 */
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include "../profile/mark.h"
#include "timing.h"

using Algorithm = gloo::AllreduceOptions::Algorithm;

class Bench {
public:
	Bench(std::shared_ptr<gloo::Context> context, Algorithm algorithm)
		: context_(std::move(context)), algorithm_(algorithm) {}

	void measure(size_t bytes, double seconds)
	{
		size_t n = bytes / sizeof(float);
		std::vector<float> in(n), out(n);
		bench_moment start, end;

		bench_fill(in.data(), n, context_->rank);
		start = calls(in, out, bench_warmup(bytes), end);
		int iters = shared(bench_iters(seconds, end.at - start.at, bytes));
		start = calls(in, out, iters, end);
		float wrong = maximum(bench_wrong(out.data(), n, context_->size));
		float slowest = maximum(end.at - start.at);
		if (!context_->rank)
			bench_print(bytes, slowest, iters, wrong, start, end);
	}

private:
	bench_moment calls(std::vector<float> &in, std::vector<float> &out, int iters,
			   bench_moment &end)
	{
		gloo::BarrierOptions barrier(context_);

		gloo::barrier(barrier);
		bench_moment start = bench_now();
		if (!context_->rank)
			profile_begin();
		for (int i = 0; i < iters; i++)
			allreduce(in, out, gloo::sum<float>);
		if (!context_->rank)
			profile_end();
		end = bench_now();
		return start;
	}

	void allreduce(std::vector<float> &in, std::vector<float> &out,
		       void (*reduce)(void *, const void *, const void *, size_t))
	{
		gloo::AllreduceOptions options(context_);

		options.setAlgorithm(algorithm_);
		options.setInput(in.data(), in.size());
		options.setOutput(out.data(), out.size());
		options.setReduceFunction(reduce);
		gloo::allreduce(options);
	}

	int shared(int value)
	{
		gloo::BroadcastOptions options(context_);

		options.setOutput(&value, 1);
		options.setRoot(0);
		gloo::broadcast(options);
		return value;
	}

	float maximum(float value)
	{
		std::vector<float> in{value}, out(1);

		allreduce(in, out, gloo::max<float>);
		return out[0];
	}

	std::shared_ptr<gloo::Context> context_;
	Algorithm algorithm_;
};

int main(int argc, char **argv)
{
	const char *rank = getenv("TORCOLL_RANK"), *size = getenv("TORCOLL_SIZE");

	if (argc < 6 || !rank || !size) {
		fprintf(stderr, "usage: gloo_allreduce ring|bcube ADDRESS STORE SECONDS BYTES...\n");
		return 2;
	}
	gloo::transport::tcp::attr attr;
	attr.hostname = argv[2];
	gloo::rendezvous::FileStore store(argv[3]);
	auto context = std::make_shared<gloo::rendezvous::Context>(atoi(rank), atoi(size));
	context->setTimeout(std::chrono::minutes(2));
	auto device = gloo::transport::tcp::CreateDevice(attr);
	context->connectFullMesh(store, device);

	Bench bench(context, strcmp(argv[1], "ring") ? Algorithm::BCUBE : Algorithm::RING);
	for (int i = 5; i < argc; i++)
		bench.measure(strtoul(argv[i], nullptr, 0), atof(argv[4]));
	return 0;
}
