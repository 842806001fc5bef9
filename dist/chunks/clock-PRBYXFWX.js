import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{systemClock}from"./chunk-MURDNDMV.js";import"./chunk-K5Y2IR4E.js";export{systemClock};
