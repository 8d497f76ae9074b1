/**
 * The name of this process in `ps`, `pgrep`, `pidof` and `top`: without it they would show Deno and its arguments.
 * Linux only. Source: proc_pid_stat(5), proc_pid_comm(5), proc_pid_cmdline(5).
 * @module
 */

import { nameProcessTask } from "./thread_task.ts";

/** Places of `arg_start` and `arg_end` in /proc/<pid>/stat, counted behind the name. */
const ARG_START = 45, ARG_END = 46;

/** Names this process `name`, and makes its command line `name` and `args`, as far as there is room. */
export function nameProcess(name: string, args: readonly string[]): void {
  if (Deno.build.os !== "linux") return;
  nameProcessTask(name);
  const stat = Deno.readTextFileSync("/proc/self/stat").replace(/^.*\) /s, "").split(" ");
  const [start, end] = [BigInt(stat[ARG_START]), BigInt(stat[ARG_END])];
  const pointer = Deno.UnsafePointer.create(start);
  if (pointer === null || end <= start) return; // the system does not give the address
  // The address is in this process's memory, and the runtime has already read the arguments.
  const place = new Uint8Array(Deno.UnsafePointerView.getArrayBuffer(pointer, Number(end - start)));
  const words = new TextEncoder().encode([name, ...args].map((word) => `${word}\0`).join(""));
  place.fill(0);
  place.set(words.subarray(0, place.length - 1));
}
