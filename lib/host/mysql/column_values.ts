/**
 * Values of columns as Python's clients give them: numbers, texts, and bytes of columns without a character set.
 * Source: dev.mysql.com, "Column Definition Protocol"; PyMySQL 1.2, `converters.py`.
 * @module
 */

import { float, int, type Value } from "#lib/values/value.ts";

/** What is needed of a column's definition. */
export interface ColumnDefinition {
  readonly name: string;
  /** The number of its type. */
  readonly columnType?: number;
  /** The number of its character set. */
  readonly characterSet?: number;
}

/** TINY, SHORT, LONG, LONGLONG, INT24 and YEAR. */
const INTEGERS: readonly unknown[] = [1, 2, 3, 8, 9, 13];
/** FLOAT and DOUBLE. */
const FLOATS: readonly unknown[] = [4, 5];
/** VARCHAR, BIT, the BLOBs, VAR_STRING, STRING and GEOMETRY; others, such as dates, are texts in any character set. */
const BINARIES: readonly unknown[] = [15, 16, 249, 250, 251, 252, 253, 254, 255];
/** The character set of bytes. */
const BINARY = 63;

/** The value of a column from the bytes that the server has sent; `null`: there is none. */
export function columnValue({ columnType, characterSet }: ColumnDefinition, bytes: Uint8Array | null): Value {
  if (bytes === null) return null;
  if (BINARIES.includes(columnType) && characterSet === BINARY) return new Uint8Array(bytes);
  const text = new TextDecoder().decode(bytes);
  if (INTEGERS.includes(columnType)) return int(BigInt(text));
  return FLOATS.includes(columnType) ? float(Number(text)) : text;
}

/** The value as text: `mysql.query` has nothing else. */
export function columnText(_: ColumnDefinition, bytes: Uint8Array | null): Value {
  return bytes === null ? null : new TextDecoder().decode(bytes);
}
