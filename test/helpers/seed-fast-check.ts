import fc from "fast-check";
import { chosenSeed } from "./seeded-random.ts";

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: chosenSeed() });
