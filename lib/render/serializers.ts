/**
 * Salt's serializers, by the names that `slsutil.serialize` and `file.serialize` use.
 * Source: Salt 3008.3, `salt/serializers`.
 * @module
 */

import { CommandError, InvocationError, JsonError, messageOf, MsgpackError, YamlError } from "#lib/errors.ts";
import { jsonText } from "#lib/jinja/filters/json_text.ts";
import { yamlexText } from "#lib/jinja/filters/yaml_words.ts";
import { isInt, isMap, repr, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { loadYamlex } from "#lib/yaml/yamlex.ts";
import { readConfigParser, writeConfigParser } from "./config_parser.ts";
import { writeToml } from "./toml_writer.ts";

/** One format. */
export interface Serializer {
  /** @throws {CommandError} If the value cannot be written. */
  readonly serialize: (value: Value, options: ValueMap) => Value | Promise<Value>;
  /**
   * @param file The name of the source's file, for errors.
   * @throws {CommandError} If the text cannot be read.
   */
  readonly deserialize: (source: Value, options: ValueMap, file?: string) => Value | Promise<Value>;
}

/** The text to be read. */
function sourceText(source: Value): string {
  if (typeof source === "string") return source;
  if (source instanceof Uint8Array) return new TextDecoder().decode(source);
  throw new CommandError(`Cannot read ${str(source)}: it is no text`);
}

/** @throws {InvocationError} For an option that is not among `known`. */
function checkOptions(options: ValueMap, known: readonly string[]): void {
  for (const name of options.keys()) {
    if (!known.includes(str(name))) {
      throw new InvocationError(`The serializer has no option '${str(name)}'; it has ${known.join(", ") || "none"}`);
    }
  }
}

/** @throws {CommandError} In place of errors of the format. */
function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof YamlError || error instanceof JsonError || error instanceof MsgpackError) {
      throw new CommandError(messageOf(error), { cause: error });
    }
    throw error;
  }
}

function yamlText(value: Value, options: ValueMap): string {
  checkOptions(options, ["default_flow_style", "indent", "allow_unicode"]);
  const flow = options.get("default_flow_style") ?? null, indent = options.get("indent");
  const text = dumpYaml(value, {
    flow: flow === null ? "leaves" : truthy(flow),
    ascii: !truthy(options.get("allow_unicode")),
    aliases: true,
    ...isInt(indent ?? null) ? { indent: Number(indent) } : {},
  });
  return text.replace(/\n$/, "");
}

function yamlexOf(text: string): Value {
  try {
    return loadYamlex(text, "<unicode string>").value;
  } catch (error) {
    if (error instanceof YamlError) throw new CommandError(yamlexText(error, text), { cause: error });
    throw error;
  }
}

/**
 * The options that all sections of a configparser file have.
 * @throws {InvocationError} For another option.
 */
function defaultsOf(options: ValueMap): ValueMap {
  checkOptions(options, ["defaults"]);
  return mapOrEmpty(options.get("defaults"));
}

const JSON_OPTIONS = ["sort_keys", "indent", "ensure_ascii"];

/** The serializers by name. */
export const SERIALIZERS: Readonly<Record<string, Serializer>> = {
  configparser: {
    serialize: (value, options) => {
      if (!isMap(value)) throw new CommandError("configparser can only serialize dictionaries");
      const defaults = defaultsOf(options);
      return writeConfigParser(defaults.size === 0 ? value : new Map([["DEFAULT", defaults], ...value]));
    },
    deserialize: (source, options, file) =>
      readConfigParser(sourceText(source), { file, defaults: defaultsOf(options) }),
  },
  json: {
    serialize: (value, options) => {
      checkOptions(options, JSON_OPTIONS);
      return jsonText(value, {
        sortKeys: truthy(options.get("sort_keys")),
        indent: options.get("indent") ?? null,
        ascii: truthy(options.get("ensure_ascii")),
      });
    },
    deserialize: (source) => reading(() => parseJson(sourceText(source))),
  },
  msgpack: {
    serialize: (value) => encode(value, "disk"),
    deserialize: (source) =>
      reading(() =>
        decode(source instanceof Uint8Array ? source : new TextEncoder().encode(sourceText(source)), "disk")
      ),
  },
  toml: {
    serialize: (value, options) => {
      checkOptions(options, []);
      if (!isMap(value)) throw new CommandError(`TOML can only serialize dictionaries, not ${repr(value)}`);
      return writeToml(value);
    },
    deserialize: async (source) => {
      const { readToml } = await import("./toml_reader.ts");
      const read = await readToml(sourceText(source));
      if ("value" in read) return read.value;
      throw new CommandError(`${read.problem.message}; line ${read.problem.line}`);
    },
  },
  yaml: {
    serialize: yamlText,
    deserialize: (source) => reading(() => loadYaml(sourceText(source), "<unicode string>")),
  },
  yamlex: {
    serialize: yamlText,
    deserialize: (source) => yamlexOf(sourceText(source)),
  },
};
