/**
 * Checks answers against an OpenAPI document: the status is one that the document names, and the body is of its type.
 * @module
 */

import { Ajv2020, type ValidateFunction } from "ajv/2020";

/** An answer, and what it answers. */
export interface CheckedAnswer {
  /** GET, POST, …; HEAD is checked as GET. */
  readonly method: string;
  /** The path as the document has it. */
  readonly path: string;
  readonly status: number;
  /** The media type, without parameters. */
  readonly type: string;
  /** The parsed body; of HEAD `undefined`. */
  readonly body: unknown;
}

type Json = Readonly<Record<string, unknown>>;

/** A document, compiled. */
export class OpenApiCheck {
  readonly #document: Json;
  readonly #ajv: Ajv2020;
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor(document: Json) {
    this.#document = document;
    this.#ajv = new Ajv2020({ strict: false, allErrors: true });
    this.#ajv.addSchema({ $id: "document", ...document });
  }

  /** What of the answer the document does not say; empty: nothing. */
  problems({ method, path, status, type, body }: CheckedAnswer): string[] {
    const name = method === "HEAD" ? "get" : method.toLowerCase();
    const place = ["paths", path, name, "responses", String(status)];
    let response = at(this.#document, place);
    let pointer = place;
    const ref = response?.$ref;
    if (typeof ref === "string") {
      pointer = ref.slice(2).split("/");
      response = at(this.#document, pointer);
    }
    if (response === undefined) return [`${method} ${path} does not name the status ${status}`];
    if (method === "HEAD") return [];
    const content = at(response, ["content", type]);
    if (content === undefined) return [`${method} ${path} ${status} does not name the type ${type}`];
    if (content.schema === undefined) return [];
    const validate = this.#validator([...pointer, "content", type, "schema"]);
    if (validate(body)) return [];
    return [
      `${method} ${path} ${status}: ${this.#ajv.errorsText(validate.errors)}: ${JSON.stringify(body).slice(0, 300)}`,
    ];
  }

  #validator(pointer: readonly string[]): ValidateFunction {
    const $ref = `document#/${
      pointer.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")
    }`;
    const known = this.#compiled.get($ref) ?? this.#ajv.compile({ $ref });
    this.#compiled.set($ref, known);
    return known;
  }
}

function at(value: unknown, path: readonly string[]): Json | undefined {
  let part: unknown = value;
  for (const name of path) part = isJson(part) ? part[name] : undefined;
  return isJson(part) ? part : undefined;
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
