/**
 * A directory in front of PATH, for the tests of one file alone. Test files run at the same time in threads of one
 * process that share the environment, so a variable that one test sets would affect other tests.
 * @module
 */

/** The directory; disposing of the object removes it from PATH. */
export class SearchPath implements Disposable {
  readonly #get = Deno.env.get;
  readonly #toObject = Deno.env.toObject;

  constructor(directory: string) {
    const put = (path: string | undefined) => path ? `${directory}:${path}` : directory;
    const [get, toObject] = [this.#get.bind(Deno.env), this.#toObject.bind(Deno.env)];
    Deno.env.get = (name) => name === "PATH" ? put(get(name)) : get(name);
    Deno.env.toObject = () => {
      const all = toObject();
      return { ...all, PATH: put(all.PATH) };
    };
  }

  [Symbol.dispose](): void {
    Deno.env.get = this.#get;
    Deno.env.toObject = this.#toObject;
  }
}
