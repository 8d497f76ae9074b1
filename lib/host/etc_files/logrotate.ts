/**
 * Files of logrotate: what is in them, and one stanza as text.
 * Source: Salt 3008.3, `salt/modules/logrotate.py`; logrotate(8).
 * @module
 */

/** A setting: whether it is there, its number or its text; of a script its lines. */
export type LogrotateSetting = true | number | string | string[];

/** The settings for some files. */
export type LogrotateStanza = Map<string, LogrotateSetting>;

/** What is in a file; `include` is a directory whose files count as well. */
export interface LogrotateFile {
  readonly settings: Map<string, LogrotateSetting | LogrotateStanza>;
  readonly include?: string;
}

/** Directives that a shell script follows. */
const SCRIPTS = ["firstaction", "lastaction", "prerotate", "postrotate", "preremove"];

function isLogFile(word: string): boolean {
  return /^[/~"']/.test(word) || /[*?[]/.test(word);
}

function settingOf(words: readonly string[]): LogrotateSetting {
  if (words.length === 1) return true;
  const value = words.slice(1).join(" ");
  return words.length === 2 && /^[+-]?\d+$/.test(value) ? Number(value) : value;
}

/** Reads a file. */
export function parseLogrotate(text: string): LogrotateFile {
  const settings = new Map<string, LogrotateSetting | LogrotateStanza>();
  let include: string | undefined;
  let stanza: LogrotateStanza | undefined;
  let names: string[] = [];
  let script: { name: string; lines: string[] } | undefined;
  for (const line of text.split("\n").map((one) => one.trim())) {
    const target: Map<string, LogrotateSetting | LogrotateStanza> = stanza ?? settings;
    if (script !== undefined) {
      if (line !== "endscript") script.lines.push(line);
      else {
        target.set(script.name, script.lines);
        script = undefined;
      }
      continue;
    }
    if (line === "" || line.startsWith("#")) continue;
    const words = line.split(/\s+/);
    if (line.includes("{") && !line.includes("}")) {
      names.push(...words.filter((word) => word !== "{"));
      stanza = new Map();
    } else if (line.includes("}")) {
      for (const name of names) settings.set(name, stanza ?? new Map());
      names = [];
      stanza = undefined;
    } else if (stanza === undefined && words.length === 1 && isLogFile(words[0])) names.push(words[0]);
    else if (words.length === 1 && stanza !== undefined && SCRIPTS.includes(words[0])) {
      script = { name: words[0], lines: [] };
    } else {
      if (words[0] === "include" && words.length > 1) include = words[1];
      target.set(words[0], settingOf(words));
    }
  }
  for (const name of names) settings.set(name, true);
  return { settings, ...include === undefined ? {} : { include } };
}

/** A stanza as it is in a file. */
export function stanzaText(name: string, stanza: LogrotateStanza): string {
  const lines = [...stanza].flatMap(([key, value]) => {
    if (Array.isArray(value)) {
      return [`    ${key}`, ...value.map((line) => `        ${line}`), "    endscript"];
    }
    return [`    ${key} ${value === true ? "" : value}`];
  });
  return `${name} {\n${lines.map((line) => `${line}\n`).join("")}}`;
}
