// SPDX-License-Identifier: GPL-2.0
/* Tests of cables: the steps that core/survey/test.h decides. See survey.h. */
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "core/survey/test.h"
#include "survey/survey.h"

/* Frames in a row for which softirqs wait. */
#define XMIT_AT_ONCE	64

/*
 * Put @frames into the device's queue, back to back: a device without a queue,
 * such as veth, would deliver each before the next.
 */
static void test_xmit(struct sk_buff_head *frames)
{
	struct sk_buff *skb;
	u32 i;

	while (!skb_queue_empty(frames)) {
		local_bh_disable();
		for (i = 0; i < XMIT_AT_ONCE && (skb = __skb_dequeue(frames)); i++)
			dev_queue_xmit(skb);
		local_bh_enable();
	}
}

static void send_pings(struct tor_survey *survey, struct net_device *dev,
		       const struct tor_test_step *step)
{
	struct tor_survey_frame f = {
		.type = TORCOLL_SURVEY_PING,
		.hop_limit = 1,
		.survey = step->test,
		.host = survey->surveys.host,
	};
	u32 i;

	for (i = 0; i < step->count; i++) {
		f.round = step->first + i;
		f.stamp = ktime_get_ns();
		tor_survey_send(dev, &f, NULL);
	}
}

/* The largest test frame that fits the device. */
static u32 test_size(const struct net_device *dev)
{
	return clamp_t(u32, READ_ONCE(dev->mtu), TOR_SURVEY_FRAME_MIN, TOR_TRIAL_FRAME_MAX);
}

/*
 * Put the frames of a train and its mark into @queue, the last one first: the
 * first one, which says when the train leaves, is made when all others are.
 */
static bool train_make(struct net_device *dev, struct tor_survey_frame f,
		       const struct tor_survey_train *train, const void *payload,
		       struct sk_buff_head *queue)
{
	u32 left, length = f.length;
	struct sk_buff *skb;

	for (left = train->frames + 1; left--;) {
		bool is_mark = left == train->frames;

		f.type = is_mark ? TORCOLL_SURVEY_MARK : TORCOLL_SURVEY_TRAIN;
		f.length = is_mark ? sizeof(struct torcoll_survey_train) : length;
		f.round = is_mark ? train->train : left;
		if (!left)
			f.stamp = ktime_get_ns();
		skb = tor_survey_skb(dev, &f, payload, GFP_KERNEL | __GFP_NOWARN);
		if (!skb)
			return false;
		__skb_queue_head(queue, skb);
	}
	return true;
}

/* Return whether it was sent. */
static bool send_train(struct tor_survey *survey, struct net_device *dev, u64 test, u32 number)
{
	u32 size = test_size(dev);
	struct tor_survey_frame f = {
		.hop_limit = 1,
		.survey = test,
		.length = size - sizeof(struct torcoll_survey),
		.host = survey->surveys.host,
	};
	struct tor_survey_train train = { number, tor_trains_frames(size) };
	struct sk_buff_head queue;
	bool made = false;
	void *payload;

	__skb_queue_head_init(&queue);
	payload = kzalloc(f.length, GFP_KERNEL | __GFP_NOWARN);
	if (payload) {
		tor_survey_put_train(payload, &train);
		made = train_make(dev, f, &train, payload, &queue);
		kfree(payload);
	}
	if (made)
		test_xmit(&queue);
	else
		__skb_queue_purge(&queue);
	return made;
}

/* The mark that nothing follows. */
static void send_last(struct tor_survey *survey, struct net_device *dev, u64 test, u32 trains)
{
	struct tor_survey_train train = { trains, tor_trains_frames(test_size(dev)) };
	struct tor_survey_frame f = {
		.type = TORCOLL_SURVEY_MARK,
		.hop_limit = 1,
		.flags = TORCOLL_SURVEY_LAST,
		.survey = test,
		.round = trains,
		.length = sizeof(struct torcoll_survey_train),
		.host = survey->surveys.host,
	};
	u8 payload[sizeof(struct torcoll_survey_train)];

	tor_survey_put_train(payload, &train);
	tor_survey_send(dev, &f, payload);
}

/* Send to one device; return false if that was a train that was not sent. */
static bool test_send_to(struct tor_survey *survey, const struct tor_test_step *step, u32 i)
{
	struct net_device *dev = dev_get_by_index(survey->net, step->ifindex[i]);
	bool sent = false;

	if (dev && tor_survey_usable(dev)) {
		sent = true;
		if (step->action == TOR_TEST_SEND_TRAIN)
			sent = send_train(survey, dev, step->test, step->train[i]);
		else if (step->action == TOR_TEST_SEND_LAST)
			send_last(survey, dev, step->test, step->train[i]);
		else
			send_pings(survey, dev, step);
	}
	dev_put(dev);
	return sent || step->action != TOR_TEST_SEND_TRAIN;
}

static void test_send(struct tor_survey *survey, const struct tor_test_step *step)
{
	u32 i;

	for (i = 0; i < step->devices; i++) {
		if (test_send_to(survey, step, i))
			continue;
		spin_lock_bh(&survey->lock);
		tor_test_unsent(&survey->surveys, step->test, step->ifindex[i]);
		spin_unlock_bh(&survey->lock);
	}
}

void tor_survey_test_work(struct work_struct *work)
{
	struct tor_survey *survey = container_of(to_delayed_work(work), struct tor_survey,
						 test_work);
	struct tor_test_step step;

	spin_lock_bh(&survey->lock);
	tor_test_next(&survey->surveys, ktime_get_ns(), &step);
	spin_unlock_bh(&survey->lock);
	test_send(survey, &step);
	if (step.action == TOR_TEST_DONE)
		return;
	/* rounded up: with slow ticks, pings would all leave at once */
	schedule_delayed_work(&survey->test_work,
			      nsecs_to_jiffies(step.wait + TICK_NSEC - 1));
}
