/**
 * Offsets of events: the id of their log and a number, as one text. A log that was lost and made again has another id,
 * so that an offset of the old one is not taken for one of the new one.
 * @module
 */

/** The place of an event in a log. Numbers begin with 0, and one that was not written is not given again. */
export interface Offset {
  /** The id of the log: 8 hexadecimal digits. */
  readonly log: string;
  readonly number: number;
}

/** The form of a log's id. */
export const LOG_ID = /^[0-9a-f]{8}$/;

/** The text of an offset: `3f2a9c01.12345`. */
export function offsetText({ log, number }: Offset): string {
  return `${log}.${number}`;
}

/** The offset in a text; `undefined` if it is none. */
export function parseOffset(text: string): Offset | undefined {
  const parts = /^([0-9a-f]{8})\.(\d{1,15})$/.exec(text);
  return parts === null ? undefined : { log: parts[1], number: Number(parts[2]) };
}
