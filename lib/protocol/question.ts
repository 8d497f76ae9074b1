/**
 * A question to the main thread of the running minion, asked by an event on its bus: an execution function that runs in
 * a worker, or `salt-call`, asks it to change or show what only the main thread has.
 * Source: Salt 3008.3 `salt/modules/schedule.py`, `salt/modules/beacons.py` (`manage_schedule`, `manage_beacons`).
 * @module
 */

import type { ValueMap } from "#lib/values/value.ts";

/** A question, and the event that answers it. */
export interface Question {
  /** The tag of the event that asks: `manage_schedule`. */
  readonly tag: string;
  /** What it asks, in the keys that Salt's event has. */
  readonly data: ValueMap;
  /** The tag of the event that answers: `/salt/minion/minion_schedule_add_complete`. */
  readonly answerTag: string;
  /** How long to wait for it, in seconds. Default: {@linkcode ANSWER_S}. */
  readonly waitS?: number;
}

/** How long Salt's functions wait for an answer, in seconds. */
export const ANSWER_S = 30;

/** The longest wait that a job may ask for, in seconds. */
export const LONGEST_ANSWER_S = 300;

/**
 * The key of a question and of its answer by which they belong together: answers to other programs have the same tag.
 */
export const QUESTION_ID = "_question";

/** The key of an answer whose question could not be answered: the reason, a text. */
export const ANSWER_ERROR = "_error";
