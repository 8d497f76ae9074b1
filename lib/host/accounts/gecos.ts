/**
 * The comment field of a user: full name, room, phones, and other data.
 * Source: Salt 3008.3, `salt/modules/useradd.py` _get_gecos.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";

/** The parts of the field, in order. */
export const GECOS_PARTS = ["fullname", "roomnumber", "workphone", "homephone", "other"] as const;

/** One of the parts. */
export type GecosPart = typeof GECOS_PARTS[number];

/** The parts by name; empty where there is nothing. */
export function parseGecos(field: string): Record<GecosPart, string> {
  const words = field.split(",");
  const parts = [...words.slice(0, 4), words.slice(4).join(",")];
  const [fullname, roomnumber = "", workphone = "", homephone = "", other = ""] = parts;
  return { fullname, roomnumber, workphone, homephone, other };
}

/** The field of those parts. */
export function gecosField(parts: Readonly<Record<GecosPart, string>>): string {
  return rstripChars(GECOS_PARTS.map((part) => parts[part]).join(","), ",");
}
