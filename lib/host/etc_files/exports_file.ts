/**
 * The file of NFS exports. Lines of other paths, comments among them, stay as they are when one is changed.
 * Source: exports(5); Salt 3008.3 `salt/modules/nfs3.py`.
 * @module
 */

import { splitWhitespace } from "#lib/text/split_lines.ts";

/** Hosts with the options that they get. */
export interface ExportClient {
  readonly hosts: string;
  readonly options: readonly string[];
}

/** A line, or lines that go on after a backslash: its paths with their clients; none: it exports nothing. */
interface ExportLine {
  readonly text: string;
  readonly paths: readonly string[];
  readonly clients: readonly ExportClient[];
}

function parseLine(text: string): ExportLine {
  const words = splitWhitespace(text.replace(/\\\n/g, " ").replace(/(^|\s)#.*/s, ""));
  const [first, ...rest] = words;
  if (first === undefined) return { text, paths: [], clients: [] };
  const clients = rest.filter((word) => !word.startsWith("/")).map((word) => {
    const [, hosts = word, options] = /^([^(]*)\((.*?)\)?$/s.exec(word) ?? [];
    return { hosts, options: options === undefined ? [] : options.split(",") };
  });
  return { text, paths: [first, ...rest.filter((word) => word.startsWith("/"))], clients };
}

function written(path: string, clients: readonly ExportClient[]): string {
  return [path, ...clients.map(({ hosts, options }) => `${hosts}(${options.join(",")})`)].join(" ");
}

/** The exports that a file has. */
export class ExportsFile {
  readonly #lines: readonly ExportLine[];

  constructor(text: string) {
    const lines = text.match(/(?:\\\n|[^\n])+|\n/g) ?? [];
    // A newline alone is the end of a line, or an empty line.
    const texts = lines.flatMap((line, i) => line !== "\n" ? [line] : i === 0 || lines[i - 1] === "\n" ? [""] : []);
    this.#lines = texts.map(parseLine);
  }

  /** The clients of each path, in the order of the file. */
  exports(): Map<string, ExportClient[]> {
    const found = new Map<string, ExportClient[]>();
    for (const { paths, clients } of this.#lines) {
      for (const path of paths) found.set(path, [...found.get(path) ?? [], ...clients]);
    }
    return found;
  }

  /**
   * The file's text with these clients of a path; without any, the path is no longer exported. The path's lines become
   * one, where the first was; its other paths get lines of their own.
   */
  withExport(path: string, clients: readonly ExportClient[] | undefined): string {
    let rest = clients;
    const lines = this.#lines.flatMap((line) => {
      if (!line.paths.includes(path)) return [line.text];
      const own = rest === undefined ? [] : [written(path, rest)];
      rest = undefined;
      const others = line.paths.filter((other) => other !== path);
      return [...own, ...others.map((other) => written(other, line.clients))];
    });
    if (rest !== undefined) lines.push(written(path, rest));
    return lines.map((line) => `${line}\n`).join("");
  }
}
