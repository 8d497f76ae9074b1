/**
 * The functions of the wheel modules `file_roots` and `pillar_roots`, which differ in the option whose directories they
 * work on.
 * Source: Salt 3008.3 `salt/wheel/file_roots.py` and `pillar_roots.py`.
 * @module
 */

import { runner, type RunnerContext, type RunnerFunction, wheelDoc } from "#lib/client/runner_context.ts";
import { findFiles, listTree, readFound, rootsOf, writeBelow } from "#lib/files/backends/root_files.ts";
import { p } from "#lib/plugins/module.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

type RootsOption = "file_roots" | "pillar_roots";

const SALTENV = `

saltenv : base
    The environment.`;

/** The functions for the directories of one option. */
export function rootsModule(
  option: RootsOption,
): Record<"find" | "list_env" | "list_roots" | "read" | "write", RunnerFunction> {
  const roots = ({ opts }: RunnerContext, saltenv: string) => rootsOf(opts[option], saltenv);
  const environment = (context: RunnerContext, saltenv: string): ValueMap =>
    new Map((roots(context, saltenv) ?? []).map((root) => [root, listTree(root)]));
  return {
    find: runner({
      doc: wheelDoc(
        `List the files of this path in each directory of an environment, with txt or bin for their contents.${SALTENV}`,
        `${option}.find top.sls`,
      ),
      params: { path: p.str(), saltenv: p.str("base") },
      run: ({ path, saltenv }, context) =>
        findFiles(roots(context, saltenv) ?? [], path).map((file) => new Map([[file.path, file.kind]])),
    }),
    list_env: runner({
      doc: wheelDoc(
        `List all files in the directories of an environment: a dictionary for a directory, f for a file.${SALTENV}`,
        `${option}.list_env`,
      ),
      params: { saltenv: p.str("base") },
      run: ({ saltenv }, context) => environment(context, saltenv),
    }),
    list_roots: runner({
      doc: wheelDoc("List all files of all environments.", `${option}.list_roots`),
      params: {},
      run: (_, context) =>
        new Map([...context.opts[option].keys()].map((saltenv): [Value, Value] => [
          saltenv,
          [environment(context, String(saltenv))],
        ])),
    }),
    read: runner({
      doc: wheelDoc(
        `Return the text of the files of this path in each directory of an environment; other files are left out.${SALTENV}`,
        `${option}.read top.sls`,
      ),
      params: { path: p.str(), saltenv: p.str("base") },
      run: ({ path, saltenv }, context) =>
        findFiles(roots(context, saltenv) ?? [], path).filter(({ kind }) => kind === "txt")
          .map((file) => new Map([[file.path, readFound(file)]])),
    }),
    write: runner({
      doc: wheelDoc(
        `Write a file below a directory of an environment. The path cannot lead out of it.

data
    The text.

path
    The path, relative to the directory.${SALTENV}

index : 0
    Which of the environment's directories.`,
        `${option}.write 'base: {}' top.sls`,
      ),
      params: { data: p.str(), path: p.str(), saltenv: p.str("base"), index: p.int(0) },
      run({ data, path, saltenv, index }, context) {
        const directories = roots(context, saltenv);
        if (directories === undefined) return `Named environment ${saltenv} is not present`;
        const root = directories.at(index);
        if (index < 0 || root === undefined) {
          return `Specified index ${index} in environment ${saltenv} is not present`;
        }
        if (path.startsWith("/")) {
          return `The path passed in ${path} is not relative to the environment ${saltenv}`;
        }
        const written = writeBelow(root, path, data);
        return written === undefined ? `Invalid path: ${path}` : `Wrote data to file ${written}`;
      },
    }),
  };
}
