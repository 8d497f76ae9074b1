/**
 * Questions on a bus of this host: a program asks by an event, and the service answers by another.
 *
 * Salt's questions and answers have no number, so two functions that ask at once read each other's answers. Here a
 * question has one, which its answer repeats; a question of a Python program has none, and its answer has none.
 * Source: lib/protocol/question.ts.
 * @module
 */

import { CommandError, messageOf, NoMasterError, NoMinionError, RequestTimeoutError } from "#lib/errors.ts";
import { ANSWER_ERROR, ANSWER_S, LONGEST_ANSWER_S, type Question, QUESTION_ID } from "#lib/protocol/question.ts";
import { map, str, type ValueMap } from "#lib/values/value.ts";
import { type BusEvent, stamp } from "./event.ts";
import { isServed } from "./fire.ts";
import type { BusPaths } from "./paths.ts";
import { EventSender } from "./sender.ts";
import { EventSubscriber } from "./subscriber.ts";

/**
 * Asks the minion whose bus this is.
 * @returns The data of its answer.
 * @throws {NoMinionError} If no minion is running.
 * @throws {RequestTimeoutError} If it does not answer in time.
 * @throws {CommandError} If it answers that it could not do it, with its reason.
 */
export async function askOnBus(
  paths: BusPaths,
  { tag, data, answerTag, waitS = ANSWER_S }: Question,
): Promise<ValueMap> {
  const waitMs = Math.min(Math.max(waitS, 0), LONGEST_ANSWER_S) * 1000;
  if (!await isServed(paths.pub)) throw noMinion(tag);
  const number = crypto.randomUUID();
  try {
    using events = await EventSubscriber.connect(paths.pub, [answerTag]);
    using sender = new EventSender(paths.pull);
    const deadline = performance.now() + waitMs;
    const asked = await sender.fire(tag, stamp(new Map(data).set(QUESTION_ID, number)), waitMs);
    for (let leftMs = waitMs; asked && leftMs > 0; leftMs = deadline - performance.now()) {
      const answer = await events.next(leftMs, (name) => name === answerTag);
      if (answer?.data.get(QUESTION_ID) !== number) continue;
      const reason = answer.data.get(ANSWER_ERROR);
      if (reason !== undefined) throw new CommandError(str(reason));
      return answer.data;
    }
  } catch (error) {
    if (error instanceof NoMasterError) throw noMinion(tag);
    throw error;
  }
  throw new RequestTimeoutError(`the running minion (${tag})`, waitMs);
}

function noMinion(tag: string): NoMinionError {
  return new NoMinionError(`No minion is running on this host, so nobody answers ${tag}`);
}

/** The event that answers a question, before its number is added. */
export type QuestionAnswer = BusEvent;

/** How a service answers the questions of one tag. */
export interface Answering {
  /** The tag of the questions; longer tags are other questions. */
  readonly tag: string;
  /** Answers one; `undefined`: nobody waits for an answer. What it throws is answered with the tag of `failed`. */
  answer(question: ValueMap): Promise<QuestionAnswer | undefined>;
  /** The tag of the answer to a question that failed. */
  failed(question: ValueMap): string;
  /** Called when a question failed. */
  report(text: string): void;
}

/** Answers questions one after the other, until `events` is closed; `events` has the tag of the questions. */
export async function answerQuestions(
  events: EventSubscriber,
  paths: BusPaths,
  answering: Answering,
): Promise<void> {
  using sender = new EventSender(paths.pull);
  for (;;) {
    const event = await events.next(-1, (tag) => tag === answering.tag);
    if (event === undefined) return;
    const answer = await answerTo(event.data, answering);
    if (answer === undefined) continue;
    const data = new Map(answer.data);
    const number = event.data.get(QUESTION_ID);
    if (number !== undefined) data.set(QUESTION_ID, number);
    await sender.fire(answer.tag, stamp(data));
  }
}

async function answerTo(question: ValueMap, answering: Answering): Promise<QuestionAnswer | undefined> {
  try {
    return await answering.answer(question);
  } catch (error) {
    const reason = messageOf(error);
    answering.report(`The event ${answering.tag} failed: ${reason}`);
    return { tag: answering.failed(question), data: map({ complete: false, [ANSWER_ERROR]: reason }) };
  }
}
