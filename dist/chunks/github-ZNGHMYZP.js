import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{context,getOctokit}from"./chunk-RKQENF33.js";import"./chunk-KJTK5YRY.js";import"./chunk-VHAHO3YO.js";import"./chunk-K5Y2IR4E.js";export{context,getOctokit};
