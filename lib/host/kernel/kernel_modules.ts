/**
 * The kernel's modules: the loaded ones, the available ones, and those loaded at boot.
 * Source: Salt 3008.3, `salt/modules/kmod.py`; modprobe(8), modules-load.d(5).
 * @module
 */

import type { CommandHost } from "#lib/programs/command.ts";
import { checkedWord, type ProgramResult, requireProgram, runProgram } from "#lib/programs/run_program.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { writeLines } from "./settings_file.ts";

/** A loaded module as `lsmod` shows it. */
export interface LoadedModule {
  readonly size: string;
  readonly module: string;
  /** Number of users. */
  readonly depcount: string;
  /** The modules that use it. */
  readonly deps: readonly string[];
}

/** The modules of `lsmod`. */
export function parseLsmod(text: string): LoadedModule[] {
  return text.split("\n").map((line) => line.trim().split(/\s+/)).flatMap(([module, size, depcount, deps]) =>
    depcount === undefined || module === "Module"
      ? []
      : [{ size, module, depcount, deps: deps === undefined ? [] : deps.split(",") }]
  );
}

/** The loaded modules, from `lsmod`. */
export async function loadedModules(host: CommandHost): Promise<LoadedModule[]> {
  return parseLsmod((await runProgram([requireProgram("lsmod")], host)).stdout);
}

/**
 * The names of this kernel's modules, sorted.
 * @param directory `/lib/modules/<release>`
 */
export function availableModules(directory: string): string[] {
  const builtIn = (readTextFileIfExists(`${directory}/modules.builtin`) ?? "").split("\n");
  const names = builtIn.flatMap((path) => /([^/]+)\.ko$/.exec(path.trim())?.[1] ?? []);
  return [...names, ...moduleFiles(directory)].sort();
}

function moduleFiles(directory: string): string[] {
  try {
    return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory }) => {
      if (isDirectory) return moduleFiles(`${directory}/${name}`);
      const end = name.indexOf(".ko");
      return end < 0 ? [] : [name.slice(0, end).replaceAll("-", "_")];
    });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** The words of a module with its options, as arguments. */
function moduleWords(mod: string): string[] {
  const [name = "", ...options] = mod.trim().split(/\s+/);
  return [
    checkedWord(name, "kernel module"),
    ...options.map((option) => checkedWord(option, "option of a kernel module")),
  ];
}

/** Loads a module with modprobe, or removes it with rmmod. */
export function runForModule(program: "modprobe" | "rmmod", mod: string, host: CommandHost): Promise<ProgramResult> {
  return runProgram([requireProgram(program), ...moduleWords(mod)], host);
}

/** The modules that a file names, sorted. */
export function persistentModules(file: string): string[] {
  const lines = (readTextFileIfExists(file) ?? "").split("\n").map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== "" && !line.startsWith("#")).map((line) => line.split(/\s+/)[0]))]
    .sort();
}

/** Makes the system load a module at boot: adds its line, or uncomments it. */
export function persistModule(mod: string, file: string): void {
  const lines = fileLines(file);
  const wanted = mod.trim();
  const at = lines.findIndex((line) => /^#[\t ]*/.test(line) && line.replace(/^#[\t ]*/, "").trim() === wanted);
  writeLines(file, at < 0 ? [...lines, wanted] : lines.with(at, wanted));
}

/**
 * Stops loading a module at boot.
 * @param comment Whether its line is commented out instead of removed.
 */
export function forgetModule(mod: string, file: string, comment: boolean): void {
  const [name] = mod.trim().split(/\s+/);
  writeLines(
    file,
    fileLines(file).flatMap((line) => line.trim().split(/\s+/)[0] !== name ? [line] : comment ? [`#${line}`] : []),
  );
}

function fileLines(file: string): string[] {
  const text = readTextFileIfExists(file) ?? "";
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
