/**
 * Execution module `keyboard`: the keyboard's layout, of the console and of X.
 * Source: the functions of Salt 3008.3 `salt/modules/keyboard.py`; localectl(1), setxkbmap(1), keyboard(5).
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { str } from "#lib/values/value.ts";

const NO_KEYBOARD =
  "The keyboard execution module cannot be loaded: it is for Red Hat, Debian and Gentoo, or for hosts with localectl.";

export const virtual: Virtual = { serves: [{ grains: { kernel: ["Linux"] }, otherwise: NO_KEYBOARD }] };

/** Where a family of distributions keeps the layout of the console: the file, and the word in it. */
const FILES: Readonly<Record<string, readonly [path: string, word: string]>> = {
  RedHat: ["/etc/sysconfig/keyboard", "LAYOUT"],
  Debian: ["/etc/default/keyboard", "XKBLAYOUT"],
  Gentoo: ["/etc/conf.d/keymaps", "keymap"],
};

/** @throws {CommandError} If this host has none that is known. */
function fileOf({ grains }: JobContext): readonly [path: string, word: string] {
  const file = FILES[str(grains.get("os_family") ?? "")];
  if (file === undefined) throw new CommandError(NO_KEYBOARD);
  return file;
}

/**
 * What comes after the first mark in a text.
 * @throws {CommandError} If there is none.
 */
function behind(mark: string, text: string): string {
  const [, value] = text.split(mark);
  if (value === undefined) throw new CommandError("No keyboard layout is set");
  return value;
}

function linesWith(word: string, all: string): string[] {
  return all.split("\n").filter((line) => line.includes(word));
}

export const get_sys: ModuleFunction<JobContext> = fn({
  doc: describe("Return the console's keyboard layout.", "keyboard.get_sys"),
  permissions: "all",
  params: {},
  run: async (_bound, context) => {
    if (which("localectl") !== undefined) {
      const { stdout } = await runProgram(["localectl"], context);
      return behind("=", linesWith("Keymap", stdout).map((line) => line.replace(": ", "=")).join("\n")).trimEnd();
    }
    const [path, word] = fileOf(context);
    const lines = linesWith(word, readTextFileIfExists(path) ?? "").filter((line) => !line.startsWith("#"));
    return behind("=", lines.join("\n")).replaceAll('"', "").trimEnd();
  },
});

export const set_sys: ModuleFunction<JobContext> = fn({
  doc: describe("Set the console's keyboard layout, and return it.", "keyboard.set_sys dvorak"),
  permissions: "all",
  params: { layout: p.str() },
  run: async ({ layout }, context) => {
    if (which("localectl") !== undefined) await runProgram(["localectl", "set-keymap", layout], context);
    else {
      const [path, word] = fileOf(context);
      await context.call("file.sed", [path, `^${word}=.*`, `${word}=${layout}`]);
    }
    return layout;
  },
});

export const get_x: ModuleFunction<JobContext> = fn({
  doc: describe("Return the keyboard layout of X.", "keyboard.get_x"),
  permissions: "all",
  params: {},
  run: async (_bound, context) => {
    const { stdout } = await runProgram(["setxkbmap", "-query"], context);
    return behind(":", linesWith("layout", stdout).join("\n")).trim();
  },
});

export const set_x: ModuleFunction<JobContext> = fn({
  doc: describe("Set the keyboard layout of X, and return it.", "keyboard.set_x dvorak"),
  permissions: "all",
  params: { layout: p.str() },
  run: async ({ layout }, context) => {
    await runProgram(["setxkbmap", layout], context);
    return layout;
  },
});
