/**
 * Gives a process that runs a function elsewhere (on a host, in another root directory) its call, answers what it asks
 * for, and takes the function's return.
 * @module
 */

import { messageOf, SshError, WireError } from "#lib/errors.ts";
import {
  type HostMessage,
  type HostReturn,
  messageReader,
  packCall,
  packHostAnswer,
  type SshCall,
  unpackMessage,
} from "./messages.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** The input and output of such a process, behind the line by which it began. */
export interface HostChannel {
  /** The next bytes, as they come; `undefined` at the end. */
  next(): Promise<Uint8Array | undefined>;
  /** A process that has ended does not read it, and its end says why. */
  write(bytes: Uint8Array): Promise<unknown>;
  /**
   * The error for a process that ended too early.
   * @param when `before the function returned`
   */
  failure(when: string): Promise<Error>;
}

/** What the other side is. */
export interface FollowedHost {
  /** Its name in messages. */
  readonly name: string;
  /** Answers a request, as a master answers a minion. What it throws is the answer. */
  answer(load: ValueMap): Promise<Value>;
  /** Takes a record of its log. */
  log(record: Extract<HostMessage, { readonly what: "log" }>): void;
}

/**
 * Answers the process until its function has returned.
 * @throws {SshError} If it sends what is no message, or cannot run the function.
 * @throws {Error} That of the channel, if it ends before.
 */
export async function followHost(channel: HostChannel, call: SshCall, host: FollowedHost): Promise<HostReturn> {
  const reader = messageReader();
  await channel.write(packCall(call));
  for (;;) {
    const bytes = await channel.next();
    if (bytes === undefined) throw await channel.failure("before the function returned");
    for (const { content } of frames(host, () => reader.push(bytes))) {
      const message = frames(host, () => unpackMessage(content));
      if (message.what === "outcome") return message;
      if (message.what === "failed") {
        throw new SshError("deploy", `The function does not run on ${host.name}: ${message.message}`);
      }
      if (message.what === "request") void answer(channel, message, host);
      else host.log(message);
    }
  }
}

function frames<T>({ name }: FollowedHost, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof WireError || error instanceof RangeError)) throw error;
    throw new SshError("protocol", `${name} sent what is no message: ${error.message}`);
  }
}

async function answer(
  channel: HostChannel,
  { number, load }: Extract<HostMessage, { readonly what: "request" }>,
  host: FollowedHost,
): Promise<void> {
  let reply;
  try {
    reply = { value: await host.answer(load) };
  } catch (error) {
    reply = { error: messageOf(error) };
  }
  await channel.write(packHostAnswer(number, reply));
}
