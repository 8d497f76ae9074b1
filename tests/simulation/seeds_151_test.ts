/** @module */
import { testSeeds } from "./prove_seeds.ts";

testSeeds(151);
