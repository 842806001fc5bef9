import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{ToolRegistry,stateFolder}from"./chunk-BYMCKAPD.js";import"./chunk-GTOTXFID.js";import"./chunk-TPCAH4P3.js";import"./chunk-57ME4GGB.js";import"./chunk-K5Y2IR4E.js";export{ToolRegistry,stateFolder};
