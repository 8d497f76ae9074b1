/**
 * The messages between the thread of a job and the job's process in Python: frames with MessagePack maps. Those of
 * Python come from code that is not trusted: each field is checked, and an invalid one ends the job.
 * @module
 */

import { WireError } from "#lib/errors.ts";
import { frame, type WireFrame } from "#lib/protocol/frames.ts";
import { fieldsOf, has, readInteger, readText } from "#lib/runtime/message_fields.ts";
import { type Bounds, decode, encode } from "#lib/values/msgpack.ts";
import { isMap, str, toNumber, toValue, type Value, type ValueMap } from "#lib/values/value.ts";

/** Maximum size of a message in either direction, in bytes. */
export const MAX_PYTHON_MESSAGE = 64 << 20;

/** Memory bound of the parts of one message, in the entries of `decode`: about 75 MB. */
const BOUNDS: Bounds = { memory: 4_000_000, depth: 512, keyBytes: Infinity, otherKeys: Infinity };
/** Maximum length of a name, in UTF-16 units. */
const MAX_TEXT = 1 << 22;

/** The families of plugins that may be in Python, by the names of their directories. */
export const PYTHON_FAMILIES = [
  ...["modules", "states", "utils", "grains", "renderers", "returners"] as const,
  ...["runners", "wheel", "pillar", "tops"] as const,
  ...["beacons", "engines", "sdb", "serializers", "output", "auth", "roster"] as const,
  ...["executors", "matchers"] as const,
] as const;

/** One of {@linkcode PYTHON_FAMILIES}. */
export type PythonFamily = typeof PYTHON_FAMILIES[number];

/** Whose plugins they are, which says what `__salt__` is: execution functions, or runners. */
export type PythonRole = "minion" | "master" | "runner" | "engine";

/** The paths of the plugins in Python by their names, a map for each family. */
export type PluginPaths = Readonly<Partial<Record<PythonFamily, Readonly<Record<string, string>>>>>;

/** The first message to the process of a job. */
export interface StartMessage {
  readonly kind: "start";
  readonly role: PythonRole;
  readonly files: PluginPaths;
  /** Whether the process has loaded the real Salt, and has the files that need it. */
  readonly is_real: boolean;
  /** The number of the minimum level of the log. */
  readonly log_level: number;
}

/** Salt's renderers whose files are Python, or templates that Python renders. */
export const SLS_RENDERERS = ["py", "pyobjects", "pydsl", "mako"] as const;

/** One of {@linkcode SLS_RENDERERS}. */
export type SlsRenderer = typeof SLS_RENDERERS[number];

/** What is asked of the process of a job. */
export type PythonRequest =
  /** The documentation of a function, which shows that there is one. */
  | { readonly kind: "find"; readonly family: PythonFamily; readonly fun: string }
  /** The descriptions of a family's functions. */
  | { readonly kind: "describe"; readonly family: PythonFamily }
  /** Why files do not load: a map of texts by `FAMILY/NAME`. */
  | { readonly kind: "problems" }
  /** The names of the files of a family that need the real Salt. */
  | { readonly kind: "real_files"; readonly family: PythonFamily }
  | {
    readonly kind: "call";
    readonly family: PythonFamily;
    readonly fun: string;
    readonly args: readonly Value[];
    readonly kwargs: ValueMap;
    /** Whether nothing may be changed. */
    readonly test: boolean;
    /** Names of the function's module that get these values, for states. */
    readonly globals?: ValueMap;
  }
  /** The grains of own files; `grains` are those of the host so far. */
  | { readonly kind: "grains"; readonly grains: ValueMap }
  /** Runs an SLS file in Python. */
  | {
    readonly kind: "render";
    readonly renderer: SlsRenderer;
    readonly text: string;
    readonly path: string;
    readonly name: string;
    readonly sls: string;
    readonly saltenv: string;
    readonly pillar: boolean;
    /** Whether the text is a template of a file, without the variables of state files. */
    readonly is_template: boolean;
    /** The compilation of states that the file is a part of. */
    readonly run: number;
    /** Further names of the file. */
    readonly names: ValueMap;
  };

/** An exception in Python. */
export interface PythonException {
  /** The name of its class. */
  readonly kind: string;
  /** The names of its class and of the classes above. */
  readonly bases: readonly string[];
  readonly text: string;
  /** The traceback, with the plugin's own frames. */
  readonly trace: string;
  /** Further facts of a CommandExecutionError. */
  readonly info?: Value;
  /** Its text without what has changed. */
  readonly short?: string;
  /** The documentation of the called function, if the arguments did not fit. */
  readonly usage?: string;
}

/** The process's message about a request, or a question to the host. */
export type FromPython =
  | {
    readonly kind: "done";
    readonly id: number;
    readonly retcode: number;
    readonly outcome:
      | { readonly value: Value; readonly alsoElsewhere: boolean }
      /** The process with the real Salt has the function. */
      | { readonly elsewhere: true }
      | { readonly missing: string; readonly reason: string | null }
      | { readonly error: PythonException };
  }
  | {
    readonly kind: "ask";
    readonly id: number;
    /** The request for which it is asked. */
    readonly during: number;
    readonly what: string;
    readonly fields: ValueMap;
  }
  | { readonly kind: "log"; readonly level: number; readonly name: string; readonly text: string };

/** Messages of the process that has started the job's. */
export type FromZygote =
  | { readonly started: number }
  | { readonly ended: string }
  /** The path of the socket of the process that has loaded the real Salt. */
  | { readonly real: string };

/** The refusal of a question, as an exception of Python. */
export interface Refusal {
  readonly class: string;
  readonly text: string;
  readonly info: Value;
  readonly short: string;
}

/** Frames a message to Python. */
export function packPython(message: Readonly<Record<string, unknown>>): Uint8Array<ArrayBuffer> {
  return frame(1, encode(toValue(message), "disk"));
}

/**
 * Parses a message of the job's process.
 * @throws {WireError | MsgpackError} If it is invalid.
 */
export function parseFromPython({ content }: WireFrame): FromPython {
  const message = decode(content, "disk", BOUNDS);
  if (!isMap(message)) throw new WireError("a message that is no map");
  const fields = fieldsOf(message, MAX_TEXT);
  const kind = readText(fields, "kind");
  switch (kind) {
    case "done":
      return {
        kind,
        id: idOf(message),
        retcode: has(fields, "retcode") ? toNumber(valueOf(message, "retcode")) ?? 1 : 0,
        outcome: outcomeOf(message),
      };
    case "ask":
      return {
        kind,
        id: idOf(message),
        during: readInteger(fields, "during", Number.MAX_SAFE_INTEGER),
        what: readText(fields, "what"),
        fields: message,
      };
    case "log":
      return {
        kind,
        level: readInteger(fields, "level", 1_000),
        name: readText(fields, "name"),
        text: readText(fields, "text"),
      };
    default:
      throw new WireError("a message of no known kind");
  }
}

function idOf(message: Value): number {
  return readInteger(fieldsOf(message), "id", Number.MAX_SAFE_INTEGER);
}

function valueOf(message: Value, field: string): Value {
  return isMap(message) ? message.get(field) ?? null : null;
}

function outcomeOf(message: Value): (FromPython & { readonly kind: "done" })["outcome"] {
  const fields = fieldsOf(message);
  if (has(fields, "error")) return { error: exceptionOf(valueOf(message, "error")) };
  if (has(fields, "elsewhere")) return { elsewhere: true };
  if (!has(fields, "missing")) {
    return { value: valueOf(message, "value"), alsoElsewhere: valueOf(message, "also_elsewhere") === true };
  }
  const reason = valueOf(message, "reason");
  return { missing: readText(fields, "missing"), reason: reason === null ? null : str(reason) };
}

function exceptionOf(value: Value): PythonException {
  const fields = fieldsOf(value, MAX_TEXT);
  const bases = valueOf(value, "bases");
  const info = valueOf(value, "info");
  return {
    kind: readText(fields, "class"),
    bases: Array.isArray(bases) ? bases.map(str) : [],
    text: readText(fields, "text"),
    trace: readText(fields, "trace"),
    ...info !== null && { info },
    ...has(fields, "short") && { short: readText(fields, "short") },
    ...has(fields, "usage") && { usage: readText(fields, "usage") },
  };
}

/**
 * Parses a message of the process that starts jobs.
 * @throws {WireError} If it is invalid.
 */
export function parseFromZygote({ content }: WireFrame): FromZygote {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder().decode(content));
  } catch {
    throw new WireError("a message that is not JSON");
  }
  const fields = fieldsOf(parsed);
  if (has(fields, "real")) return { real: readText(fields, "real") };
  return has(fields, "started")
    ? { started: readInteger(fields, "started", 0x7fffffff) }
    : { ended: readText(fields, "ended") };
}
