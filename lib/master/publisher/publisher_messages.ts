/**
 * The messages between the master's main thread and its Publisher.
 * @module
 */

import { fieldsOf, readInteger } from "#lib/runtime/message_fields.ts";

/** The Publisher's message when it listens. */
export interface PublisherReady {
  /** The port for minions. */
  readonly publishPort: number;
}

/** The main thread's message about memory. */
export interface MemoryMessage {
  /** The process's resident memory, in bytes. */
  readonly rss: number;
}

/**
 * Parses a {@linkcode PublisherReady}.
 * @throws {WireError} If it is something else.
 */
export function parsePublisherReady(message: unknown): PublisherReady {
  return { publishPort: readInteger(fieldsOf(message), "publishPort", 65_535) };
}

/**
 * Parses a {@linkcode MemoryMessage}.
 * @throws {WireError} If it is something else.
 */
export function parseMemoryMessage(message: unknown): MemoryMessage {
  return { rss: readInteger(fieldsOf(message), "rss", Number.MAX_SAFE_INTEGER) };
}
