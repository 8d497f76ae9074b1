/**
 * The types of bodies and answers as data: JSON Schema of draft 2020-12, as OpenAPI 3.1 has it.
 * Source: json-schema.org, draft 2020-12; spec.openapis.org, 3.1.
 * @module
 */

/** A type of a JSON value. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly (string | number | null)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
  readonly $ref?: string;
}

/** A property that need not be there. */
interface OptionalProperty {
  readonly optional: JsonSchema;
}

/** What {@linkcode t.object} takes for a property. */
type Property = JsonSchema | OptionalProperty;

function described(schema: JsonSchema, description?: string): JsonSchema {
  return description === undefined ? schema : { ...schema, description };
}

/** Makes types; the last argument of each is its documentation. */
export const t = {
  any: (doc?: string): JsonSchema => described({}, doc),
  text: (doc?: string): JsonSchema => described({ type: "string" }, doc),
  oneOf: (values: readonly (string | number | null)[], doc?: string): JsonSchema => described({ enum: values }, doc),
  int: (doc?: string): JsonSchema => described({ type: "integer" }, doc),
  /** A whole number in a range. */
  range: (minimum: number, maximum: number, doc?: string): JsonSchema =>
    described({ type: "integer", minimum, maximum }, doc),
  number: (doc?: string): JsonSchema => described({ type: "number" }, doc),
  bool: (doc?: string): JsonSchema => described({ type: "boolean" }, doc),
  list: (items: JsonSchema, doc?: string): JsonSchema => described({ type: "array", items }, doc),
  /** A map whose keys are data. */
  mapOf: (values: JsonSchema, doc?: string): JsonSchema =>
    described({ type: "object", additionalProperties: values }, doc),
  /** A map with these keys, and no others. */
  object: (properties: Readonly<Record<string, Property>>, doc?: string): JsonSchema => {
    const entries = Object.entries(properties);
    const required = entries.filter(([, property]) => !isOptional(property)).map(([name]) => name);
    return described({
      type: "object",
      properties: Object.fromEntries(entries.map(([name, one]) => [name, isOptional(one) ? one.optional : one])),
      ...required.length > 0 && { required },
      additionalProperties: false,
    }, doc);
  },
  /** A map with these keys, and any others. */
  open: (properties: Readonly<Record<string, Property>>, doc?: string): JsonSchema => ({
    ...t.object(properties, doc),
    additionalProperties: true,
  }),
  /** A property that need not be there. */
  optional: (schema: JsonSchema): OptionalProperty => ({ optional: schema }),
  orNull: (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: "null" }] }),
  either: (...schemas: readonly JsonSchema[]): JsonSchema => ({ anyOf: schemas }),
  /** The type of this name in the document's `components`. */
  named: (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` }),
};

function isOptional(property: Property): property is OptionalProperty {
  return "optional" in property;
}
