/**
 * Texts in URLs: the one way from a text that is not known to a part of a URL.
 * Source: RFC 3986, sections 2.3 and 3.3; WHATWG URL Standard, "double-dot path segment".
 * @module
 */

import { InvocationError } from "#lib/errors.ts";

/**
 * `value` as a part of a URL's path or query, or of its user: all but letters, digits and `-._~` is percent-encoded,
 * also a slash.
 */
export function quoteUrlPart(value: string): string {
  return encodeURIComponent(value.toWellFormed()).replace(/[!'()*]/g, (character) => hexOf(character));
}

/** The text of a part of a URL. A `%` that begins no character is kept, as by git and Python. */
export function unquoteUrlPart(part: string): string {
  return part.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) => {
    try {
      return decodeURIComponent(bytes);
    } catch {
      return bytes;
    }
  });
}

/**
 * A URL of an operator with values in place of the fields that `fields` matches, which must be global.
 * @param valueOf The value of a field.
 * @throws {InvocationError} If it is no URL, or a value would change how many steps its path has, as `..` does.
 */
export function fillUrl(url: string, fields: RegExp, valueOf: (field: string) => string): string {
  const filled = url.replace(fields, (field) => quoteUrlPart(valueOf(field)));
  const steps = stepsOf(filled);
  if (steps === undefined) throw new InvocationError("it is no URL");
  if (steps !== stepsOf(url.replace(fields, "x"))) {
    throw new InvocationError("a value that is put into the URL would lead to another path");
  }
  return filled;
}

/** The number of a URL's steps, as it is sent: without `.` and `..`. */
function stepsOf(url: string): number | undefined {
  return URL.parse(url)?.pathname.split("/").length;
}

function hexOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
