/**
 * How a script imports its other files on demand. At the start, Deno reads and parses each file that an `import()` in
 * the text names, whether it is imported or not. Also, each `import()` of a file costs 3 to 10 ms, even if that file
 * only re-exports. So the file names are removed from the `import()` expressions, exports of the start file are used
 * directly, and what another file re-exports is taken from the file that has it.
 * @module
 */

/** One file of a script. */
export interface ScriptFile {
  readonly fileName: string;
  readonly code: string;
}

/** What a file re-exports: from the file of this name, as the members of an object literal. */
interface Reexports {
  readonly from: string;
  /** The exports with their names in `from`: `[["b", "a"]]` of `export{a as b}`. */
  readonly names: readonly (readonly [name: string, there: string])[];
}

/**
 * The files of a script, as they are shipped: without files that only re-export, and with late imports. No code changes
 * its line or column, so that the source maps stay valid.
 * @param stem The prefix of the names of all files: `salt`.
 * @throws {RangeError} If an `import()` names a file that is not one of them.
 */
export function withLateImports(files: readonly ScriptFile[], stem: string): ScriptFile[] {
  const startFile = `${stem}.start.mjs`;
  const reexports = new Map(files.flatMap(({ fileName, code }) => {
    const found = reexportsOf(code);
    return found === undefined ? [] : [[fileName, found] as const];
  }));
  const fileNames = new Set(files.map(({ fileName }) => fileName));
  return files.filter(({ fileName }) => !reexports.has(fileName)).map(({ fileName, code }) => {
    const needed = new Map<string, string>();
    let any = false;
    const changed = code.replaceAll(/import\(`\.\/([^`$]+)`\)/g, (text, file: string) => {
      if (!fileNames.has(file) || !file.startsWith(`${stem}.`)) throw new RangeError(`${fileName} imports ${file}`);
      any = true;
      const name = file.slice(stem.length + 1, -".mjs".length);
      const found = reexports.get(file);
      if (found !== undefined) needed.set(name, sourceOf(found, { stem, startFile }));
      return `__late\`${name}\``.padEnd(text.length);
    });
    return { fileName, code: any ? withLate(changed, { stem, startFile, needed }) : code };
  });
}

/** What a file re-exports that only holds `export{a as b}from"./salt.start.mjs";`, else `undefined`. */
function reexportsOf(code: string): Reexports | undefined {
  const [, names, from] = /^export\{([^}]*)\}from"\.\/([^"]+)";\s*(?:\/\/.*)?$/.exec(code.trim()) ?? [];
  if (from === undefined) return undefined;
  const pairs = names.split(",").map((name) => {
    const [there, here = there] = name.split(" as ");
    return [here, there] as const;
  });
  return { from, names: pairs };
}

/** Where re-exports come from, as an expression: the late file's name, none for the start file, and what takes them. */
function sourceOf(
  { from, names }: Reexports,
  { stem, startFile }: { readonly stem: string; readonly startFile: string },
): string {
  const taken = (file: string) => `({${names.map(([name, there]) => `${name}:${file}.${there}`).join()}})`;
  if (from === startFile) return `[,()=>${taken("__start")}]`;
  return `[${JSON.stringify(from.slice(stem.length + 1, -".mjs".length))},file=>${taken("file")}]`;
}

/**
 * `code` with the function that its late imports call. The function comes at the end, so that the mapped lines do not
 * move; the comment that names the map stays last.
 */
function withLate(
  code: string,
  { stem, startFile, needed }: {
    readonly stem: string;
    readonly startFile: string;
    readonly needed: ReadonlyMap<string, string>;
  },
): string {
  const [body, comment = ""] = code.split(/(?=\/\/# sourceMappingURL=)/);
  // The name has to be a variable: Deno computes expressions of strings, and reads the file at the start.
  const file = (name: string) => `import("./${stem}."+${name}+".mjs")`;
  if (needed.size === 0) return `${body}\nfunction __late([name]){return ${file("name")}}\n${comment}`;
  const from = [...needed].map(([name, source]) => `${JSON.stringify(name)}:${source}`).join();
  const start = from.includes("__start.") ? `import*as __start from"./${startFile}";\n` : "";
  return `${body}\n${start}function __late([name]){const[file,take]={${from}}[name]??[name,all=>all];` +
    `return file?${file("file")}.then(take):Promise.resolve(take())}\n${comment}`;
}
