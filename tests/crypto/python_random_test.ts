import { PythonRandom } from "#lib/crypto/python_random.ts";
import { assertEquals } from "#tests/support/assert.ts";

/**
 * `random.Random(seed).sample(range(size), count)` of CPython 3: of little, and of much, where a number may come twice.
 */
const SAMPLES: readonly (readonly [seed: number | string, size: number, sample: readonly number[]])[] = [
  ["salt", 100, [32, 95, 20, 88, 59, 80, 16, 0]],
  [
    7,
    500,
    [
      ...[165, 485, 77, 202, 333, 24, 37, 420, 274, 48, 187, 298, 29, 465, 259, 109, 19, 44, 222, 214],
      ...[35, 123, 46, 282, 217, 30, 423, 289, 63, 114, 322, 321, 31, 295, 299, 203, 25, 499, 113, 23],
    ],
  ],
];

for (const [seed, size, sample] of SAMPLES) {
  Deno.test(`${sample.length} of ${size} numbers with the seed ${seed} are Python's`, () => {
    assertEquals(new PythonRandom(seed).sample([...Array(size).keys()], sample.length), [...sample]);
  });
}
