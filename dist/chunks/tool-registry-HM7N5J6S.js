import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{ToolRegistry,stateFolder}from"./chunk-62FW6V3G.js";import"./chunk-CHFND5BI.js";import"./chunk-USP7IVEU.js";import"./chunk-K5Y2IR4E.js";export{ToolRegistry,stateFolder};
