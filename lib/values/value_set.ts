/**
 * Python's set as a value: what YAML's `!!set` gives. It is a list of JavaScript whose items are all different, so what
 * crosses the wire is a list, as Salt sends it; text, JSON, YAML, equality and templates see the difference.
 * Source: docs.python.org, "Set Types"; salt/payload.py for the wire.
 * @module
 */

/** A set, in the order in which its members were added. */
export class ValueSet<T> extends Array<T> {
  /** What `map`, `slice` and the like make of it is a list. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  /** @param members Of which no two are equal. */
  constructor(members: readonly T[] = []) {
    super(members.length);
    for (let i = 0; i < members.length; i++) this[i] = members[i];
  }
}
