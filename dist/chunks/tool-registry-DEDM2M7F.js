import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{ToolRegistry,stateFolder}from"./chunk-M5X5USVN.js";import"./chunk-5DSJLPD3.js";import"./chunk-USP7IVEU.js";import"./chunk-K5Y2IR4E.js";export{ToolRegistry,stateFolder};
