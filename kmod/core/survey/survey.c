// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Surveys: rounds, their ways, and the ends of cables. See survey.h. */
#include "core/survey/survey.h"

void tor_surveys_init(struct tor_surveys *s, u64 host)
{
	s->host = host;
}

/*
 * Return whether an action is within a limit of @burst, then one per @every ns,
 * and charge it. @until: time up to which earlier ones are charged.
 */
static bool survey_may(u64 *until, u64 now, u64 every, u32 burst)
{
	u64 from = max(*until, now);

	if (from - now >= every * burst)
		return false;
	*until = from + every;
	return true;
}

bool tor_survey_lives(const struct tor_survey_known *k, u64 now)
{
	return k->asked && now - k->asked <= TOR_SURVEY_LIFE;
}

static struct tor_survey_known *survey_find(struct tor_surveys *s, u64 now, u64 id)
{
	u32 i;

	for (i = 0; i < TOR_SURVEYS; i++)
		if (tor_survey_lives(&s->known[i], now) && s->known[i].id == id)
			return &s->known[i];
	return NULL;
}

/*
 * Return a free entry, or else the oldest one for which no socket here waits
 * alone, or NULL if it must stay.
 */
static struct tor_survey_known *survey_room(struct tor_surveys *s, u64 now)
{
	struct tor_survey_known *oldest = NULL;
	u32 i;

	for (i = 0; i < TOR_SURVEYS; i++) {
		struct tor_survey_known *k = &s->known[i];

		if (!tor_survey_lives(k, now))
			return k;
		if ((!k->socket || k->old) && now - k->asked > TOR_SURVEY_STAY &&
		    (!oldest || k->asked < oldest->asked))
			oldest = k;
	}
	return oldest;
}

/* The socket asks by that survey: what it has begun before may be forgotten. */
static void survey_renew(struct tor_surveys *s, const struct tor_survey_known *by)
{
	u32 i;

	for (i = 0; i < TOR_SURVEYS; i++)
		if (s->known[i].socket == by->socket)
			s->known[i].old = &s->known[i] != by;
}

/* A round of a survey begins. */
static void survey_round(struct tor_survey_known *k, u64 now, u32 round, u8 flags, u32 parent)
{
	k->round = round;
	k->parent = parent;
	k->sure = flags & TORCOLL_SURVEY_SURE;
	k->asked = now;
	k->due = now + TOR_SURVEY_DELAY;
	k->test |= !!(flags & TORCOLL_SURVEY_TEST);
}

int tor_survey_begin(struct tor_surveys *s, u64 now, u64 id, u32 round, bool test, u32 socket)
{
	struct tor_survey_known *k = survey_find(s, now, id);

	if (k && (k->parent || k->socket != socket))
		return -EEXIST;
	if (k && (s32)(round - k->round) <= 0)
		return -EINVAL;
	if (!k) {
		k = survey_room(s, now);
		if (!k)
			return -EBUSY;
		*k = (struct tor_survey_known){ .id = id, .socket = socket, .begun = now };
	}
	survey_renew(s, k);
	survey_round(k, now, round, TORCOLL_SURVEY_SURE | (test ? TORCOLL_SURVEY_TEST : 0), 0);
	return 0;
}

struct tor_survey_cable *tor_survey_cable(const struct tor_surveys *s, u32 ifindex)
{
	u32 i;

	for (i = 0; i < TOR_SURVEY_CABLES && s->cable[i]; i++)
		if (s->cable[i]->ifindex == ifindex)
			return s->cable[i];
	return NULL;
}

static struct tor_survey_cable *cable_add(struct tor_surveys *s, u32 ifindex)
{
	struct tor_survey_cable *cable = tor_survey_cable(s, ifindex);
	u32 i;

	for (i = 0; !cable && i < TOR_SURVEY_CABLES; i++) {
		if (s->cable[i])
			continue;
		cable = tor_env_alloc(sizeof(*cable));
		if (!cable)
			break;
		cable->ifindex = ifindex;
		s->cable[i] = cable;
	}
	return cable;
}

static bool is_same_end(const struct torcoll_survey_end *a, const struct torcoll_survey_end *b)
{
	return a->host == b->host && !memcmp(a->mac, b->mac, sizeof(a->mac));
}

/* Note which end is at the other end of a cable. */
static void cable_heard(struct tor_surveys *s, u64 now, u32 ifindex,
			const struct tor_survey_frame *f)
{
	struct tor_survey_cable *cable = cable_add(s, ifindex);
	struct torcoll_survey_end end;

	if (!cable)
		return;
	tor_survey_get_end(f, &end);
	if (!is_same_end(&cable->peer, &end)) {
		if (cable->heard && now - cable->heard <= TOR_SURVEY_CROWD)
			cable->crowded = now;
		/* results, and the test under way, are of another cable */
		tor_env_free(cable->trial);
		cable->trial = NULL;
		cable->tested = 0;
		cable->arrivals = (struct tor_arrivals){ 0 };
	}
	cable->peer = end;
	cable->heard = now;
}

/*
 * Return whether an ask of a survey that is known is to be passed on. An own
 * survey comes back by every cable.
 */
static bool is_news(const struct tor_survey_known *k, const struct tor_survey_frame *f)
{
	s32 later = f->round - k->round;

	return k->parent && (later > 0 || (!later && !k->sure && f->flags & TORCOLL_SURVEY_SURE));
}

bool tor_survey_heard(struct tor_surveys *s, u64 now, u32 ifindex, const struct tor_survey_frame *f)
{
	struct tor_survey_known *k = survey_find(s, now, f->survey);

	cable_heard(s, now, ifindex, f);
	if (k && !is_news(k, f))
		return false;
	if (!survey_may(&s->rounds, now, TOR_SURVEY_ROUND_EVERY, TOR_SURVEY_ROUNDS))
		return false;
	if (!k) {
		k = survey_room(s, now);
		if (!k)
			return false;
		*k = (struct tor_survey_known){ .id = f->survey, .begun = now };
	}
	survey_round(k, now, f->round, f->flags, ifindex);
	return true;
}

bool tor_survey_sure(struct tor_surveys *s, u64 now, u64 id, u32 ifindex)
{
	const struct tor_survey_known *k = survey_find(s, now, id);

	return k && k->sure && (now - k->begun <= TOR_SURVEY_DELAY ||
				tor_survey_hears(s, now, ifindex));
}

const struct tor_survey_known *tor_survey_way(struct tor_surveys *s, u64 now, u64 id, u32 ifindex)
{
	struct tor_survey_known *k = survey_find(s, now, id);

	if (!k || (!k->parent && !k->socket) || k->parent == ifindex ||
	    !survey_may(&s->reports, now, TOR_SURVEY_REPORT_EVERY, TOR_SURVEY_REPORTS))
		return NULL;
	return k;
}

u64 tor_survey_due(const struct tor_surveys *s)
{
	u64 due = 0;
	u32 i;

	for (i = 0; i < TOR_SURVEYS; i++)
		if (s->known[i].due && (!due || s->known[i].due < due))
			due = s->known[i].due;
	return due;
}

bool tor_survey_take_due(struct tor_surveys *s, u64 now, struct tor_survey_known *taken)
{
	u32 i;

	for (i = 0; i < TOR_SURVEYS; i++) {
		struct tor_survey_known *k = &s->known[i];

		if (!k->due || k->due > now)
			continue;
		*taken = *k;
		k->due = 0;
		return true;
	}
	return false;
}

void tor_survey_closed(struct tor_surveys *s, u32 socket)
{
	u32 i;

	/* they stay known: their asks may still come back */
	for (i = 0; i < TOR_SURVEYS; i++) {
		if (s->known[i].socket != socket)
			continue;
		s->known[i].socket = 0;
		s->known[i].due = 0;
	}
}

static void cable_free(struct tor_survey_cable *cable)
{
	if (cable)
		tor_env_free(cable->trial);
	tor_env_free(cable);
}

void tor_survey_gone(struct tor_surveys *s, u32 ifindex)
{
	u32 i, last = 0;

	while (last < TOR_SURVEY_CABLES && s->cable[last])
		last++;
	for (i = 0; i < last; i++) {
		if (s->cable[i]->ifindex != ifindex)
			continue;
		cable_free(s->cable[i]);
		s->cable[i] = s->cable[last - 1];
		s->cable[last - 1] = NULL;
		return;
	}
}

void tor_surveys_destroy(struct tor_surveys *s)
{
	u32 i;

	for (i = 0; i < TOR_SURVEY_CABLES; i++) {
		cable_free(s->cable[i]);
		s->cable[i] = NULL;
	}
}

static u32 age_ms(u64 now, u64 then)
{
	return min_t(u64, tor_div64(now - then, NSEC_PER_MSEC), U32_MAX);
}

static void describe_test(const struct tor_survey_cable *cable, u64 now,
			  struct torcoll_survey_port *port)
{
	const struct tor_arrivals *a = &cable->arrived;

	port->pings = cpu_to_be32(cable->pings);
	port->pongs = cpu_to_be32(cable->pongs);
	port->rtt_min_ns = cpu_to_be32(cable->rtt_min);
	port->rtt_median_ns = cpu_to_be32(cable->rtt_median);
	port->pinged = cpu_to_be32(a->pinged);
	port->train = cpu_to_be32(a->trains.arrived);
	port->trains = cpu_to_be32(tor_trains_sent(&a->trains));
	port->rate = cpu_to_be32(tor_trains_rate(&a->trains));
	port->bad = cpu_to_be32(a->bad);
	port->tested_ms = cpu_to_be32(age_ms(now, cable->tested));
}

static bool is_heard(const struct tor_survey_cable *cable, u64 now)
{
	return cable && cable->peer.host && now - cable->heard <= TOR_SURVEY_HEARD;
}

bool tor_survey_hears(const struct tor_surveys *s, u64 now, u32 ifindex)
{
	return is_heard(tor_survey_cable(s, ifindex), now);
}

void tor_survey_describe(const struct tor_surveys *s, u64 now, u32 ifindex,
			 struct torcoll_survey_port *port)
{
	const struct tor_survey_cable *cable = tor_survey_cable(s, ifindex);
	u16 flags = be16_to_cpu(port->flags);

	if (!is_heard(cable, now))
		return;
	port->peer = cable->peer;
	if (cable->crowded && now - cable->crowded <= TOR_SURVEY_HEARD)
		flags |= TORCOLL_SURVEY_MANY;
	if (cable->tested) {
		flags |= TORCOLL_SURVEY_TESTED;
		describe_test(cable, now, port);
	}
	port->flags = cpu_to_be16(flags);
}
