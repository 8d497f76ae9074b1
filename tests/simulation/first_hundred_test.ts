/** @module */
import { testHundredSeeds } from "./prove_seeds.ts";

testHundredSeeds(1);
