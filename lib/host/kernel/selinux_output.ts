/**
 * SELinux: the output of semanage, semodule and restorecon, contexts, and semanage's names of file types.
 * Source: Salt 3008.3, `salt/modules/selinux.py`; semanage(8), semodule(8), restorecon(8).
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { repr, type Value } from "#lib/values/value.ts";

/** The parts of a context, in the order in which it is written. */
const CONTEXT_PARTS = ["sel_user", "sel_role", "sel_type", "sel_level"] as const;

/** A context by its parts. */
export type SelinuxLabel = Partial<Record<typeof CONTEXT_PARTS[number], string>>;

/** semanage's names of file types, by its letters. */
const FILE_TYPES: Readonly<Record<string, string>> = {
  a: "all files",
  f: "regular file",
  d: "directory",
  c: "character device",
  b: "block device",
  s: "socket",
  l: "symbolic link",
  p: "named pipe",
};

/**
 * The names of a file type.
 * @throws {InvocationError} If there is no such letter.
 */
export function fileTypeWords(letter: string): string {
  if (Object.hasOwn(FILE_TYPES, letter)) return FILE_TYPES[letter];
  const letters = Object.keys(FILE_TYPES).join(", ");
  throw new InvocationError(`Invalid file type code ${repr(letter)}; expected one of: ${letters}`);
}

/**
 * The parts of `user:role:type:level`.
 * @throws {InvocationError} If it is not one.
 */
function parseContext(text: string): SelinuxLabel {
  if (!/^[^:]+:[^:]+:[^:]+:[^:]+$/.test(text)) {
    throw new InvocationError(
      `Invalid SELinux context string: ${text}. Expected "sel_user:sel_role:sel_type:sel_level"`,
    );
  }
  const parts = text.split(":");
  return Object.fromEntries(CONTEXT_PARTS.map((name, i) => [name, parts[i]]));
}

/** The booleans that `semanage boolean --list` prints below its heading. */
export function parseBooleans(text: string): Map<string, { State: string; Default: string; Description: string }> {
  return new Map(
    rows(splitLines(text).slice(1)).map(([name, state = "", , usual = "", ...words]) => [
      name,
      { State: state.slice(1), Default: usual.slice(0, -1), Description: words.join(" ") },
    ]),
  );
}

/** The modules of policy that `semodule --list-modules=full` prints; a fourth column says that one is disabled. */
export function parsePolicyModules(text: string): Map<string, { Enabled: boolean; Version: null }> {
  return new Map(
    rows(splitLines(text)).map((words) => [words[1] ?? "", { Enabled: words.length !== 4, Version: null }]),
  );
}

function rows(lines: readonly string[]): string[][] {
  return lines.map((line) => line.trim().split(/\s+/)).filter(([first]) => first !== "");
}

/** A query in the list of file contexts. Each part of a context is a regular expression. */
export interface FileContextQuery {
  /** The expression for paths, as written by semanage. */
  readonly name: string;
  /** The letter of a file type. */
  readonly filetype?: string | null;
  readonly sel_type?: string | null;
  readonly sel_user?: string | null;
  readonly sel_level?: string | null;
}

/**
 * The entry of `semanage fcontext --list` that a query finds: `filespec`, `filetype`, and the parts of the context.
 * @throws {CommandError} If several are found, or it has an unexpected form.
 */
export function findFileContext(list: string, query: FileContextQuery): Record<string, string | undefined> | undefined {
  const kind = query.filetype ? fileTypeWords(query.filetype) : "[A-Za-z ]+";
  const context = [query.sel_user, "[^:]+", query.sel_type, query.sel_level].map((one) => one || "[^:]+").join(":");
  const tail = pythonRegex(`[ ]+${kind}[ ]+${context}[ |\\t]*$`);
  const lines = splitLines(list).filter((line) =>
    line.startsWith(query.name) && tail.test(line.slice(query.name.length))
  );
  if (lines.length === 0) return undefined;
  const rest = lines[0].trimEnd().slice(query.name.length);
  const parts = lines.length === 1 ? /^ +([a-z ]+) (.*)$/.exec(rest) : null;
  if (parts === null) throw new CommandError("Output from the fcontext command did not match the expected format");
  return { filespec: query.name, filetype: parts[1].trim(), ...parseContext(parts[2].trim()) };
}

/** Whether `semanage fcontext --list` has an entry for an expression of paths. */
export function hasFileContext(list: string, name: string): boolean {
  return list.includes(`${name} `);
}

/**
 * The changes in the output of restorecon, by path: the parts of the contexts that differ.
 * @returns `undefined` for a text that is not restorecon's.
 */
export function parseRelabelling(
  text: string,
): Map<string, { old: SelinuxLabel; new: SelinuxLabel }> | undefined {
  const form = text.startsWith("Would relabel")
    ? /Would relabel (.*) from (.*) to (.*)$/gm
    : text.startsWith("restorecon reset")
    ? /restorecon reset (.*) context (.*)->(.*)$/gm
    : undefined;
  if (form === undefined) return undefined;
  return new Map([...text.matchAll(form)].map(([, path, from, to]) => {
    const [old, now] = [parseContext(from), parseContext(to)];
    const differing = CONTEXT_PARTS.filter((part) => old[part] !== now[part]);
    const only = (context: SelinuxLabel) => Object.fromEntries(differing.map((part) => [part, context[part]]));
    return [path, { old: only(old), new: only(now) }];
  }));
}

/**
 * The protocol and the port, or range of ports, of a name like `tcp/8080`, or the separate arguments.
 * @throws {InvocationError} If both are missing.
 */
export function protocolAndPort(name: string, protocol: Value, port: Value): { protocol: string; port: string } {
  const form = /^(tcp|udp)\/(\d+-?\d+)$/;
  const formatValue = (value: Value) => typeof value === "string" ? value : repr(value);
  const match = form.exec(name) ?? form.exec(`${formatValue(protocol)}/${formatValue(port)}`);
  if (match === null) {
    throw new InvocationError(
      `Invalid name "${name}" format and protocol and port not provided or invalid: "${formatValue(protocol)}" "${
        formatValue(port)
      }".`,
    );
  }
  return { protocol: match[1], port: match[2] };
}

/**
 * The entry of `semanage port --list` for a port.
 * @throws {CommandError} If it has an unexpected form.
 */
export function findPort(
  list: string,
  { protocol, port, sel_type }: { readonly protocol: string; readonly port: string; readonly sel_type?: string | null },
): { sel_type: string; protocol: string; port: string } | undefined {
  const regex = pythonRegex(`${sel_type || "\\w+"}[ ]+${protocol}[ ]+.*[ ]${port}($|,)`);
  const lines = splitLines(list).filter((line) => regex.test(line));
  if (lines.length === 0) return undefined;
  const parts = /^(\w+)[ ]+(\w+)[ ]+([\d\-, ]+)/.exec(lines[0]);
  if (parts === null) throw new CommandError(`Port policy ${lines.join("\n")} did not match expected format`);
  return { sel_type: parts[1], protocol: parts[2], port: parts[3].trim() };
}

/** `/etc/selinux/config` with another mode. */
export function withMode(config: string, mode: string): string {
  return config.replace(/\nSELINUX=.*\n/g, () => `\nSELINUX=${mode}\n`);
}

/** The mode in `/etc/selinux/config`, capitalized. */
export function configuredMode(config: string): string | undefined {
  const line = config.split("\n").map((one) => one.trim()).find((one) => one.startsWith("SELINUX="));
  if (line === undefined) return undefined;
  const mode = line.slice("SELINUX=".length);
  return (mode.slice(0, 1).toUpperCase() + mode.slice(1).toLowerCase()).trimStart();
}
