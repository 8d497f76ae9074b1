/**
 * What the master's main thread and its Publisher tell each other.
 * @module
 */

import { fieldsOf, whole } from "../process/message_fields.ts";

/** What the publisher tells when it listens. */
export interface PublisherReady {
  /** The port that minions are to be told. */
  readonly publishPort: number;
}

/** What the publisher is told while the process works. */
export interface MemoryNews {
  /** What the process takes now, in bytes. */
  readonly rss: number;
}

/** What the Publisher told. @throws {WireError} If it is something else. */
export function parsePublisherReady(message: unknown): PublisherReady {
  return { publishPort: whole(fieldsOf(message), "publishPort", 65_535) };
}

/** What the main thread told. @throws {WireError} If it is something else. */
export function parseMemoryNews(message: unknown): MemoryNews {
  return { rss: whole(fieldsOf(message), "rss", Number.MAX_SAFE_INTEGER) };
}
