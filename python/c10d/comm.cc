// SPDX-License-Identifier: MIT
/*
 * Joining a group's comm: see comm.hpp.
 *
 * Each rank tells the store its place, a fabric and a node of it. The first
 * rank reads all of them, draws a name that is no other comm's, and tells the
 * store all that is needed to join, or why that is not possible. So the store
 * is asked twice by each rank but the first.
 *
 * A store may serve groups one after another, whose ranks must not read what an
 * earlier one left there. So each rank counts in the store how often it joins,
 * and the number is a part of all other keys.
 */
#include "comm.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <sstream>
#include <sys/random.h>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/version.h>
#include <unistd.h>
#include <vector>
#include <c10/util/Exception.h>

#include "number.h"
#include "progress.hpp"

namespace tortorch {

/* How many ops of a comm the kernel has at a time. */
static const uint32_t kDepth = 8;
static const uint32_t kFabricsMax = 64;
static const size_t kSentenceMax = 512;
/*
 * How long the first rank, whose process may have the store, waits for the others to
 * read that there is no comm; and how much longer than its time they wait for its word.
 */
static const auto kTold = std::chrono::milliseconds(5000);

std::exception_ptr failure(const std::string &sentence)
{
#if TORCH_VERSION_MAJOR >= 2
	return std::make_exception_ptr(c10::DistBackendError(
		{__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, "torcoll: " + sentence));
#else
	return std::make_exception_ptr(std::runtime_error("torcoll: " + sentence));
#endif
}

void fail(const std::string &sentence)
{
	std::rethrow_exception(failure(sentence));
}

/* ---- the context ---- */

static Context *context_open()
{
	torcoll *t;

	if (torcoll_open(&t))
		throw std::runtime_error(torcoll_last_error());
	try {
		return new Context{t, new Progress(t)};
	} catch (const std::exception &) {
		torcoll_close(t);
		throw;
	}
}

static std::mutex context_lock;
static Context *context;
static pid_t context_opener;

Context &Context::get()
{
	std::lock_guard<std::mutex> guard(context_lock);

	/* the parent's is of no use here, and its thread is not here */
	if (context && context_opener != getpid())
		context = nullptr;
	if (!context) {
		context = context_open();
		context_opener = getpid();
	}
	return *context;
}

void Context::end()
{
	Context *own;

	{
		std::lock_guard<std::mutex> guard(context_lock);

		own = context && context_opener == getpid() ? context : nullptr;
	}
	if (own)
		own->progress->end();
}

/* ---- places ---- */

struct Place {
	uint64_t fabric;
	uint32_t node;
	uint32_t nodes;
};

/* The key that TORCOLL_FABRIC names, if it does: any number is one. */
static std::optional<uint64_t> fabric_wanted()
{
	const char *text = getenv("TORCOLL_FABRIC");
	const char *end;
	uint64_t key;

	if (!text || !*text)
		return std::nullopt;
	if (!torcoll__parse_number(text, UINT64_MAX, &key, &end) || *end)
		throw std::runtime_error("TORCOLL_FABRIC: \"" + std::string(text) +
					 "\" is not the key of a fabric");
	return key;
}

static Place place_find()
{
	torcoll_fabric list[kFabricsMax];
	std::optional<uint64_t> wanted = fabric_wanted();
	int n = torcoll_fabrics(list, kFabricsMax);

	if (n < 0)
		throw std::runtime_error(torcoll_last_error());
	for (int i = 0; i < n && i < static_cast<int>(kFabricsMax); i++)
		if (wanted ? list[i].key == *wanted : n == 1)
			return {list[i].key, list[i].node, list[i].nodes};
	if (wanted)
		throw std::runtime_error("this host is not in fabric " + std::to_string(*wanted));
	if (!n)
		throw std::runtime_error(
			"this host is in no fabric: torcollctl apply makes it a node of one");
	throw std::runtime_error("this host is in " + std::to_string(n) +
				 " fabrics: TORCOLL_FABRIC names the key of one");
}

/* ---- the store ---- */

/* Values begin with a word that says whether they are a sentence instead. */
static const char kGood[] = "ok ";
static const char kBad[] = "no ";

static void store_set(c10d::Store &store, const std::string &key, const std::string &value)
{
	store.set(key, std::vector<uint8_t>(value.begin(), value.end()));
}

/*
 * The longest time that a store waits: none is 0 to some of PyTorch's, and less to
 * others; and TCPStore polls, for milliseconds that are an int.
 */
static const std::chrono::milliseconds kLongest = std::chrono::hours(24 * 24);

using Clock = std::chrono::steady_clock;

/* When waits for a store end; no timeout: 0 or less. */
static Clock::time_point store_end(std::chrono::milliseconds timeout)
{
	return Clock::now() + (timeout.count() > 0 ? std::min(timeout, kLongest) : kLongest);
}

/* What is there already is found also when the time is over. */
static std::chrono::milliseconds time_until(Clock::time_point end)
{
	auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());

	return std::max(left, std::chrono::milliseconds(1));
}

/* What it has under a key, once it is there. */
static std::string store_await(c10d::Store &store, const std::string &key, Clock::time_point end)
{
	try {
		store.wait({key}, time_until(end));

		std::vector<uint8_t> bytes = store.get(key);

		return std::string(bytes.begin(), bytes.end());
	} catch (const std::exception &e) {
		throw std::runtime_error("the store has no key \"" + key + "\": " + e.what());
	}
}

/* The same without the word. Throws what a sentence says. */
static std::string value_told(const std::string &key, const std::string &value)
{
	if (!value.compare(0, sizeof(kBad) - 1, kBad))
		throw std::runtime_error(value.substr(sizeof(kBad) - 1, kSentenceMax));
	if (value.compare(0, sizeof(kGood) - 1, kGood))
		throw std::runtime_error("the store has \"" + value.substr(0, 16) + "\" as " + key);
	return value.substr(sizeof(kGood) - 1);
}

static std::string of_rank(int rank, const std::exception &e)
{
	return "rank " + std::to_string(rank) + ": " + e.what();
}

static std::string place_key(int rank)
{
	return "place/" + std::to_string(rank);
}

static void place_tell(c10d::Store &store, int rank)
{
	std::ostringstream value;

	try {
		/* whether the device can be opened here, too */
		Context::get();

		Place place = place_find();

		value << kGood << place.fabric << ' ' << place.node << ' ' << place.nodes;
	} catch (const std::exception &e) {
		store_set(store, place_key(rank), kBad + std::string(e.what()));
		throw;
	}
	store_set(store, place_key(rank), value.str());
}

static Place place_of(c10d::Store &store, int rank, Clock::time_point end)
{
	std::istringstream value;
	Place place;

	try {
		value.str(value_told(place_key(rank), store_await(store, place_key(rank), end)));
	} catch (const std::exception &e) {
		throw std::runtime_error(of_rank(rank, e));
	}
	if (!(value >> place.fabric >> place.node >> place.nodes) || place.node >= place.nodes)
		throw std::runtime_error("rank " + std::to_string(rank) + " has told no place");
	return place;
}

/* ---- the comm ---- */

static const char kCommKey[] = "comm";

/* What all ranks join: name, secret, fabric, and the node of each rank. */
static std::string comm_draw(c10d::Store &store, int size, Clock::time_point end)
{
	std::ostringstream value;
	Place first, place;
	uint64_t drawn[2];

	if (getrandom(drawn, sizeof(drawn), 0) != sizeof(drawn))
		throw std::runtime_error("there are no random numbers for the name of a comm");
	first = place_of(store, 0, end);
	value << kGood << "torch-" << std::hex << drawn[0] << ' ' << drawn[1] << std::dec << ' '
	      << first.fabric;
	for (int rank = 0; rank < size; rank++) {
		place = place_of(store, rank, end);
		if (place.fabric != first.fabric || place.nodes != first.nodes)
			throw std::runtime_error(
				"rank " + std::to_string(rank) + " is on fabric " +
				std::to_string(place.fabric) + " of " + std::to_string(place.nodes) +
				" nodes, and rank 0 on fabric " + std::to_string(first.fabric) +
				" of " + std::to_string(first.nodes));
		value << ' ' << place.node;
	}
	return value.str();
}

static void comm_tell(c10d::Store &store, int size, Clock::time_point end)
{
	std::string value;

	try {
		value = comm_draw(store, size, end);
	} catch (const std::exception &e) {
		value = kBad + std::string(e.what());
	}
	store_set(store, kCommKey, value);
}

/* Throws what the first rank says, or that it says nothing. */
static std::string comm_told(c10d::Store &store, Clock::time_point end)
{
	std::string value;

	try {
		value = store_await(store, kCommKey, end);
	} catch (const std::exception &e) {
		throw std::runtime_error(of_rank(0, e));
	}
	return value_told(kCommKey, value);
}

static torcoll_comm *comm_join(torcoll *t, const std::string &told, int rank, int size,
			       std::chrono::milliseconds timeout)
{
	std::vector<uint32_t> members(size);
	torcoll_comm_config config = {};
	std::istringstream value(told);
	std::string name, secret;
	torcoll_comm *comm;

	value >> name >> secret >> config.fabric;
	for (uint32_t &member : members)
		value >> member;
	if (!value)
		fail("the store does not say which comm to join");
	config.name = name.c_str();
	config.secret = secret.c_str();
	config.members = members.data();
	config.size = size;
	config.rank = rank;
	config.deadline_ns = deadline_in(timeout);
	config.depth = kDepth;
	config.flags = TORCOLL_COMM_TELL;
	if (torcoll_comm_create(t, &config, &comm))
		fail(torcoll_last_error());
	return comm;
}

static void told_await(c10d::Store &store, const char *key, int others)
{
	const auto pause = std::chrono::milliseconds(20);

	for (auto left = kTold; left > left.zero() && store.add(key, 0) < others; left -= pause)
		std::this_thread::sleep_for(pause);
}

/*
 * All ranks but the first say when they have read that there is no comm, and the
 * first waits for them before it fails.
 */
static void comm_refuse(c10d::Store &store, int rank, int size)
{
	static const char key[] = "told";

	try {
		if (rank)
			store.add(key, 1);
		else
			told_await(store, key, size - 1);
	} catch (const std::exception &) {
		/* why there is no comm matters more than a store that is gone */
	}
}

/* The others wait longer than the first rank: it tells them who has not come, if it began after them. */
static std::string comm_agree(c10d::Store &store, int rank, int size,
			      std::chrono::milliseconds timeout)
{
	Clock::time_point end = store_end(timeout);
	std::string own;

	try {
		place_tell(store, rank);
	} catch (const std::exception &e) {
		own = e.what();
	}
	if (!rank)
		comm_tell(store, size, end);
	try {
		return comm_told(store, end + kTold);
	} catch (const std::exception &e) {
		comm_refuse(store, rank, size);
		fail(own.empty() ? e.what() : own);
	}
}

/* The keys of this join. */
static c10::intrusive_ptr<c10d::Store> store_of_round(const c10::intrusive_ptr<c10d::Store> &store,
						       int rank)
{
	int64_t round = store->add("torcoll/round/" + std::to_string(rank), 1);

	return c10::make_intrusive<c10d::PrefixStore>("torcoll/" + std::to_string(round), store);
}

Comm::Comm(const c10::intrusive_ptr<c10d::Store> &store, int rank, int size,
	   std::chrono::milliseconds timeout)
{
	std::string told = comm_agree(*store_of_round(store, rank), rank, size, timeout);

	context = &Context::get();
	comm = comm_join(context->t, told, rank, size, timeout);
}

Comm::~Comm()
{
	torcoll_comm_close(comm);
}

}  // namespace tortorch
