/** @module */
import { stuckSubscriber } from "#tests/chaos/faults/stuck_subscriber.ts";
import { chaosTest } from "./short_form.ts";

chaosTest(stuckSubscriber);
