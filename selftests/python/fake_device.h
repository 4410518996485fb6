/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tests call of fake_device.c, by ctypes.
 */
#ifndef _FAKE_DEVICE_H
#define _FAKE_DEVICE_H

/* The state, which conftest.py mirrors. */
void *fake_state(void);

/* Begin anew; open contexts stay. */
void fake_reset(void);

/* Complete @n ops that run, the oldest first. Return: how many there were. */
unsigned int fake_complete(unsigned int n);

/* How many ops were not reaped. */
unsigned int fake_running(void);

/* Let joins that are held go on. */
void fake_let_join(void);

#endif
