/**
 * Words in command lines of a POSIX shell: the one way from a text that is not known to what a shell reads.
 * Source: docs.python.org, `shlex.quote`; POSIX.1-2024, "Shell Command Language", 2.2 Quoting.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";

/** Characters that mean only themselves to a shell, outside of quotes and in them. */
const HARMLESS = "[\\w@%+=:,./-]";
const HARMLESS_WORD = /^[\w@%+=:,./-]+$/;
/** The quoted parts of a command line, escaped characters, placeholders, and each other character. */
const PARTS = /'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|%s|[\s\S]/g;
/** Outside of single quotes: what a shell reads by other rules than words and quotes. */
const OTHER_RULES = /`|<<|\(\(|\[\[|\$[{'"]|#/;
/** What stands for the value, unless another placeholder is given. */
const PLACEHOLDER = "%s";
/** A placeholder before which nothing is, so that a value with `-` at its start would be an option. */
const FIRST_IN_WORD = new RegExp(`(?<!${HARMLESS})%s`);

/**
 * `word` as a shell reads it, as Python's `shlex.quote` writes it: in single quotes unless all its characters are
 * harmless.
 */
export function quoteShellWord(word: string): string {
  return HARMLESS_WORD.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/**
 * A command line of an operator with `value` in place of each `%s`, so that it is a word, or a part of one, whatever it
 * contains. Quotes around `%s`, with only harmless characters between them, are respected.
 * @throws {InvocationError} If that is not certain: the value would be an option, or is more than harmless characters
 * and stands where a shell would read it by other rules, or in quotes with what may be a command for another program.
 */
export function fillShellCommand(command: string, value: string): string {
  refuseOption(command, value);
  if (HARMLESS_WORD.test(value)) return command.replaceAll("%s", () => value);
  const parts = command.match(PARTS) ?? [];
  const shellReads = parts.map((part) => part.startsWith("'") ? "''" : part).join("");
  const isOdd = OTHER_RULES.test(shellReads) ||
    parts.some((part) => part === "'" || part === '"' || part === "\\%" || /^".*\$\(/s.test(part));
  if (isOdd) throw notCertain(value);
  return parts.map((part) => part.includes("%s") ? fillPart(part, value) : part).join("");
}

/**
 * A word of a command line that no shell reads, with `value` in place of each placeholder: `%s`, or another one.
 * @throws {InvocationError} If that is not certain: the value would be an option, or is more than harmless characters
 * and stands in a word that has others too, which may be a command for another program (`sh -c 'cat %s'`).
 */
export function fillWord(word: string, value: string, placeholder: string = PLACEHOLDER): string {
  const around = word.split(placeholder);
  if (around.length === 1) return word;
  const isFirst = around.slice(0, -1).some((part, i) => part === "" ? i === 0 : !HARMLESS_WORD.test(part.slice(-1)));
  if (isFirst && value.startsWith("-")) throw wouldBeOption(value);
  const isPlain = around.every((part) => part === "" || HARMLESS_WORD.test(part));
  if (!isPlain && !HARMLESS_WORD.test(value)) throw notCertain(value, placeholder);
  return around.join(value);
}

function fillPart(part: string, value: string): string {
  if (part === "%s") return quoteShellWord(value);
  const quote = part[0], inside = part.slice(1, -1);
  if (!HARMLESS_WORD.test(inside)) throw notCertain(value);
  const escaped = quote === "'" ? value.replaceAll("'", `'"'"'`) : value.replace(/[\\"$`]/g, "\\$&");
  return quote + inside.replaceAll("%s", () => escaped) + quote;
}

function refuseOption(template: string, value: string): void {
  if (value.startsWith("-") && FIRST_IN_WORD.test(template)) throw wouldBeOption(value);
}

function wouldBeOption(value: string): InvocationError {
  return new InvocationError(`${JSON.stringify(value)} would be an option of the command`);
}

function notCertain(value: string, placeholder: string = PLACEHOLDER): InvocationError {
  return new InvocationError(
    `${
      JSON.stringify(value)
    } cannot be put safely into this command: write ${placeholder} outside of quotes, or alone in them`,
  );
}
