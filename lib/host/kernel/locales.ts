/**
 * Locales: their names, and the output of `localectl`.
 * Source: Salt 3008.3, `salt/modules/localemod.py`, `salt/utils/locales.py`; locale(7), localectl(1).
 * @module
 */

import { CommandError } from "#lib/errors.ts";

/** The parts of `ca_ES.UTF-8@valencia UTF-8`; missing parts are empty. */
export interface LocaleName {
  readonly language: string;
  readonly territory: string;
  readonly codeset: string;
  readonly modifier: string;
  readonly charmap: string;
}

function split(text: string, at: string): readonly [before: string, after: string] {
  const index = text.indexOf(at);
  return index < 0 ? [text, ""] : [text.slice(0, index), text.slice(index + 1)];
}

/** The parts of a name. */
export function splitLocale(name: string): LocaleName {
  const [withModifier, charmap] = split(name, " ");
  const [withCodeset, modifier] = split(withModifier, "@");
  const [place, codeset] = split(withCodeset, ".");
  const [language, territory] = split(place, "_");
  return { language, territory, codeset, modifier, charmap };
}

/** The name with these parts. */
export function joinLocale({ language, territory, codeset, modifier, charmap }: LocaleName): string {
  const part = (mark: string, text: string) => text === "" ? "" : mark + text;
  return language + part("_", territory) + part(".", codeset) + part("@", modifier) + part(" ", charmap);
}

/** A name as `locale -a` writes it. */
export function normalLocale(name: string): string {
  const parts = splitLocale(name);
  const codeset = parts.codeset.toLowerCase().replaceAll("-", "");
  return joinLocale({ ...parts, territory: parts.territory.toUpperCase(), codeset, charmap: "" });
}

/**
 * Parses the output of `localectl status`: the settings of the system's locale.
 * @throws {CommandError} If there are none.
 */
export function parseLocalectl(text: string): Map<string, string> {
  const settings = new Map<string, string>();
  let key: string | undefined;
  let isAnything = false;
  for (const line of text.trim().split("\n")) {
    const at = line.indexOf(": ");
    if (at >= 0) key = line.slice(0, at).trim().toLowerCase().replaceAll(" ", "_");
    const data = at >= 0 ? line.slice(at + 2) : line.trim();
    if (data === "" || key === undefined) continue;
    isAnything = true;
    const [name, value, ...more] = data.split("=");
    if (key === "system_locale" && value !== undefined && more.length === 0) settings.set(name, value);
  }
  if (!isAnything) throw new CommandError('Unable to parse result of "localectl"');
  return settings;
}
