// SPDX-License-Identifier: GPL-2.0
/* Tests of cables: the steps that core/link/test.h decides. See survey.h. */
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>

#include "core/link/test.h"
#include "net/survey.h"

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

/* All frames are made before the first one leaves. */
static void send_train(struct tor_survey *survey, struct net_device *dev,
		       const struct tor_test_step *step)
{
	u32 mtu = clamp_t(u32, READ_ONCE(dev->mtu), TOR_SURVEY_FRAME_MIN, TOR_TRIAL_FRAME_MAX);
	struct tor_survey_frame f = {
		.type = TORCOLL_SURVEY_TRAIN,
		.hop_limit = 1,
		.survey = step->test,
		.length = mtu - sizeof(struct torcoll_survey),
		.host = survey->surveys.host,
		.stamp = tor_trial_train(mtu),
	};
	struct sk_buff_head frames;
	struct sk_buff *skb;

	__skb_queue_head_init(&frames);
	for (f.round = 0; f.round < f.stamp; f.round++) {
		skb = tor_survey_skb(dev, &f, NULL, GFP_KERNEL | __GFP_NOWARN);
		if (!skb) {
			__skb_queue_purge(&frames);
			return;
		}
		__skb_queue_tail(&frames, skb);
	}
	test_xmit(&frames);
}

static void test_send(struct tor_survey *survey, const struct tor_test_step *step)
{
	struct net_device *dev;
	u32 i;

	for (i = 0; i < step->devices; i++) {
		dev = dev_get_by_index(survey->net, step->ifindex[i]);
		if (dev && tor_survey_usable(dev)) {
			if (step->action == TOR_TEST_SEND_TRAIN)
				send_train(survey, dev, step);
			else
				send_pings(survey, dev, step);
		}
		dev_put(dev);
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
