/**
 * Pages of a list: a limit, and a cursor that says after which item the next page begins. A cursor is the item's own
 * id, so that nothing is shown twice or left out when the list changes in between.
 * @module
 */

import { ApiError } from "#lib/api/http/api_error.ts";
import type { QueryTypes } from "#lib/api/endpoints/endpoint.ts";
import { t } from "#lib/api/http/json_schema.ts";

/** The items of a page, unless the query says another number. */
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;

/** The names of the query of a list. */
export const PAGE_QUERY: QueryTypes = {
  limit: t.range(1, MAX_LIMIT, `Items of the page. Default: ${DEFAULT_LIMIT}.`),
  after: t.text("The `next` of the page before."),
};

/** The type of `next`: the cursor of the next page; null: there is none. */
export const NEXT = t.orNull(t.text("The `after` of the next page."));

/**
 * The field `limit` of a query.
 * @throws {ApiError} 400 if it is no whole number of the range.
 */
export function limitOf(query: URLSearchParams): number {
  return numberOf(query, "limit", { min: 1, max: MAX_LIMIT }) ?? DEFAULT_LIMIT;
}

/**
 * A number of a query.
 * @throws {ApiError} 400 if it is no whole number of the range.
 */
export function numberOf(
  query: URLSearchParams,
  name: string,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (number >= min && number <= max) return number;
  throw new ApiError(400, `${name} must be a whole number from ${min} to ${max}`);
}

/** The first page of `items` after the cursor, and the cursor of the next one. */
export function pageOf<T>(
  items: Iterable<T>,
  { limit, isAfter, cursor }: {
    readonly limit: number;
    /** Whether an item comes after the cursor of the request. */
    isAfter(item: T): boolean;
    cursor(item: T): string;
  },
): { readonly page: T[]; readonly next: string | null } {
  const page: T[] = [];
  for (const item of items) {
    if (!isAfter(item)) continue;
    if (page.length === limit) return { page, next: cursor(page[limit - 1]) };
    page.push(item);
  }
  return { page, next: null };
}
