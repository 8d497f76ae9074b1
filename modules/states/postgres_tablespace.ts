/**
 * State module `postgres_tablespace`: tablespaces of PostgreSQL.
 * Source: Salt 3008.3 `salt/states/postgres_tablespace.py`.
 * @module
 */

import { DB_ARGS, DB_DOC, DB_USER_FIRST, dbArgs, needsPostgres, removeObject, succeeds } from "./_postgres.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { isMap, map, str, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = needsPostgres("tablespace_exists");

/** Line breaks of the texts, as in Salt's. */
const WRONG_PLACE =
  " is not at the right location. This is\n            unfixable without dropping and recreating the tablespace.";
const OPTIONS_PLANNED = " options to be\n                        altered";

export const present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a tablespace exists.\n\nname\n    The tablespace.\n\ndirectory\n    Its location, which cannot be changed.\n\noptions\n    A map: " +
    `seq_page_cost, random_page_cost, ….\n\nowner\n    Its owner.${DB_DOC}`,
  params: { name: p.str(), directory: p.str(), options: p.dict(null), owner: p.str(null), ...DB_ARGS },
  async run({ name, directory, options, owner, ...connection }, context) {
    const args = dbArgs(connection);
    const tablespaces = await context.call("postgres.tablespace_list", [], args);
    const known = isMap(tablespaces) ? tablespaces.get(name) : undefined;
    if (!isMap(known)) {
      if (context.test) return { ...startResult(name, null), comment: `Tablespace ${name} is set to be created` };
      if (!await succeeds(context, "tablespace_create", [name, directory, options, owner], args)) {
        return failState(name, `Failed to create tablespace ${name}`);
      }
      return {
        ...startResult(name),
        comment: `The tablespace ${name} has been created`,
        changes: map({ [name]: "Present" }),
      };
    }
    if (known.get("Location") !== directory && !context.test) {
      return failState(name, `Tablespace ${name}${WRONG_PLACE}`);
    }
    return await alterTablespace({ name, options, owner, known, args }, context);
  },
});

/** Changes the owner and the options of a tablespace that is there. */
async function alterTablespace(
  { name, options, owner, known, args }: {
    readonly name: string;
    readonly options: ValueMap | null;
    readonly owner: string | null;
    readonly known: ValueMap;
    readonly args: ValueMap;
  },
  context: StateContext,
): Promise<StateResult> {
  let result: StateResult = { ...startResult(name), comment: `Tablespace ${name} is already present` };
  const alter = (change: ValueMap) => succeeds(context, "tablespace_alter", [name], new Map([...change, ...args]));
  const own: ValueMap = new Map();
  if (owner && known.get("Owner") !== owner) {
    if (context.test) result = { ...result, result: null, comment: `Tablespace ${name} owner to be altered` };
    else if (await alter(map({ new_owner: owner }))) {
      own.set("owner", owner);
      result = { ...result, comment: `Tablespace ${name} owner changed` };
    } else return failState(name, `Failed to change the owner of tablespace ${name}`);
  }
  const there = str(known.get("Opts") ?? "");
  const missing = [...options ?? []].filter(([key, value]) => !there.includes(`${str(key)}=${str(value)}`));
  if (context.test && missing.length > 0) {
    return { ...result, result: null, comment: `Tablespace ${name}${OPTIONS_PLANNED}` };
  }
  const set: ValueMap = new Map();
  for (const [key, value] of missing) {
    if (!await alter(map({ set_option: new Map([[key, value]]) }))) {
      return failState(
        name,
        `Failed to change options of tablespace ${name}`,
        own.size > 0 ? map({ [name]: own }) : new Map(),
      );
    }
    set.set(key, value);
    result = { ...result, comment: `Tablespace ${name} opts changed` };
  }
  if (set.size > 0) own.set("options", set);
  return { ...result, changes: own.size > 0 ? map({ [name]: own }) : new Map() };
}

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a tablespace does not exist.\n\nname\n    The tablespace.${DB_DOC}`,
  params: { name: p.str(), ...DB_USER_FIRST },
  run({ name, ...connection }, context) {
    const args = dbArgs(connection);
    return removeObject({
      name,
      what: `Tablespace ${name}`,
      exists: () => succeeds(context, "tablespace_exists", [name], args),
      remove: () => succeeds(context, "tablespace_remove", [name], args),
    }, context);
  },
});
