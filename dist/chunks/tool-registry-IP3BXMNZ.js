import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{ToolRegistry,stateFolder}from"./chunk-O2HYGAAB.js";import"./chunk-NGHC5Q2B.js";import"./chunk-USP7IVEU.js";import"./chunk-K5Y2IR4E.js";export{ToolRegistry,stateFolder};
